"""Tests of `bnmind.strategies`."""
