"""Adaptive tests as trees: evaluated exactly, optimized, and written as files and paper tests."""
