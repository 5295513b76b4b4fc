"""Reductions of models before planning, which do not change the results."""
