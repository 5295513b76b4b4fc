"""The formats of network files and the bridge to pgmpy, one in each module."""

from bnmind.pgm.formats.pgmpy_bridge import from_pgmpy, pgmpy_object, quiet_pgmpy, to_pgmpy

__all__ = ["from_pgmpy", "pgmpy_object", "quiet_pgmpy", "to_pgmpy"]
