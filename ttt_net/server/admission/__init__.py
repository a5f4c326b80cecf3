"""Who may come in, and how often who may do what; asked before anything costs something."""
