"""Trees of strategies: growing, checking, comparing, files."""
