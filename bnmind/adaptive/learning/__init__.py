"""Learning an item bank from responses."""
