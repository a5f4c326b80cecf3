"""Read and check the command line of the client, before anything starts."""
