"""Mastermind on pages: help in a game played elsewhere, and a game against the server."""
