"""Simulated and replayed tests of many examinees."""
