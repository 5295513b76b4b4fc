"""Scores of guesses: one score, one module."""
