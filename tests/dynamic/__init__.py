"""Tests of the room `bnmind.dynamic`."""
