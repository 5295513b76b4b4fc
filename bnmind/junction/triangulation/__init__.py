"""Searches for elimination orders of small total size."""
