"""Simulated annealing on contraction trees."""
