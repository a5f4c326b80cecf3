"""What the host of a server may see and do: a listener of its own, out of the players' reach."""
