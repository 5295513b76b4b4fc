"""Nested dissection: orders from small separators."""
