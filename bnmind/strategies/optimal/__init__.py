"""Optimal strategies with a proof."""
