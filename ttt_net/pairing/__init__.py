"""Who would play whom: what is offered, who waits, and who fits whom. Knows no socket and no match."""
