"""Pilot items: new items that are asked in live tests to learn their parameters."""
