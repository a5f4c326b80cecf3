"""The rows of every page that is a list, so that moving about, clicking and drawing are written once."""
