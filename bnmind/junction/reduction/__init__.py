"""Smaller models with the same answers, found before planning."""
