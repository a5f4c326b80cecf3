"""Everything that a host can set: what there is, where it comes from, and what is wrong with it."""
