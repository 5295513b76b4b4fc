"""Propagation of any evidence in one tree that is compiled once."""
