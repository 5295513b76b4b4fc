"""Tests of `bnmind.adaptive`."""
