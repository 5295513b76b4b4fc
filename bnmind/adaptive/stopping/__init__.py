"""Rules that end a test."""
