"""Bridges and formats of network files, one in each module."""

from bnmind.pgm.formats.pgmpy_bridge import from_pgmpy, pgmpy_object, quiet_pgmpy, to_pgmpy

__all__ = ["from_pgmpy", "pgmpy_object", "quiet_pgmpy", "to_pgmpy"]
