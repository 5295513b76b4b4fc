"""Strategies that look further ahead than one guess."""
