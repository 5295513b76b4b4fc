"""Approximate answers, only for who asks for them: bounds at any time, and weighted samples."""
