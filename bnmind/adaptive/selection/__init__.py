"""Rules that choose the next item."""
