"""Searches for good elimination orders."""
