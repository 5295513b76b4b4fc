"""Tests of `bnmind.views`."""
