"""Published figures of adaptive tests and item banks."""
