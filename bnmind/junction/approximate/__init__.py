"""Approximate answers, for those who ask for them: bounds at any time, and weighted samples."""
