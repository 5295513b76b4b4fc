"""Constraints on a whole test, and the items that keep it possible to meet them all."""
