"""Ask a server a question, instead of playing."""
