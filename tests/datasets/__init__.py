"""Tests of the files that come with bnmind."""
