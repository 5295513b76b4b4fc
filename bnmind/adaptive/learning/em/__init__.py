"""Expectation maximization: expected counts, steps, acceleration."""
