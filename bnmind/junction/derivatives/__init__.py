"""Derivatives of probabilities by the entries of a model's tables, in one backward pass."""
