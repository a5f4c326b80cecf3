"""The link to a server: who speaks over it, to whom, and how nothing of the talk is lost when it breaks."""
