"""Tests of `bnmind.rank_one`."""
