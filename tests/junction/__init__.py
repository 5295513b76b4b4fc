"""Tests of `bnmind.junction`."""
