"""Strategies that look one guess ahead."""
