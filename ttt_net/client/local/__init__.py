"""Play matches at this keyboard, without a server but with the server's referee."""
