"""Tests of `bnmind.mastermind`."""
