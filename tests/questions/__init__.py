"""Tests of `bnmind.questions`."""
