"""Tests of `bnmind.mastermind.priors`."""
