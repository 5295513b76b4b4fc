"""Inference plans, which are compiled once and run many times."""
