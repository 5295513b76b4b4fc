"""Tests of `bnmind.fitting`."""
