"""What is asked of a server instead of playing."""
