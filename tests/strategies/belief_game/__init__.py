"""Tests of the play under noise as a game on beliefs."""
