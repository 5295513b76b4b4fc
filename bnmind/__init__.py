"""Adaptive testing with Bayesian networks."""
