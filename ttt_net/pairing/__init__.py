"""Who waits for whom, and who fits whom."""
