"""Vomlel's Bayesian network of the game."""
