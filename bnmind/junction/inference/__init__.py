"""Plans: compiled once, run many times."""
