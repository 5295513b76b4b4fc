"""Measures of strategies and of games played."""
