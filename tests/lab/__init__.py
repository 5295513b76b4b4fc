"""Tests of `bnmind.lab`."""
