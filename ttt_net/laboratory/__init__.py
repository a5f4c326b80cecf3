"""Tools that make and measure engines: arena, opening book, puzzles. Programs for players never import them."""
