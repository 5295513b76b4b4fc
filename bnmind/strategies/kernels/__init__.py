"""Compiled searches that several strategies share."""
