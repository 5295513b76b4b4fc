"""Beliefs about the secret code."""
