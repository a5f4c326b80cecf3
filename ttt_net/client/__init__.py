"""The client: a connection that reconnects by itself, one pure display, and several renderers; it has no game rules."""
