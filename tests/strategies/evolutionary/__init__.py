"""Tests of the evolutionary code-breakers."""
