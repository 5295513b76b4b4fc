"""Plots and tables of simulated tests."""
