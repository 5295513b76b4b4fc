"""Tests of `bnmind.pgm`."""
