"""Proven most probable explanations and marginal MAP by branch and bound."""
