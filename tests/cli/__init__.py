"""Tests of `bnmind.cli`."""
