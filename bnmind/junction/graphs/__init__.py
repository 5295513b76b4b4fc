"""Interaction graphs, elimination orders and junction trees."""
