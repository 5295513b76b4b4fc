"""Commands for adaptive tests."""
