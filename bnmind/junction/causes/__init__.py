"""Exact inference with independent causes of observed effects, given the states of the effects."""
