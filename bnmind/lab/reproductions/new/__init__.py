"""Experiments that nobody has published, each with a plot."""
