"""Tools for developing and measuring engines: arena, opening book, puzzles. Programs for players never import them."""
