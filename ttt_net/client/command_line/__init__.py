"""What the command line says, checked before anything starts."""
