"""Kernels: compiled searches that several strategies share."""
