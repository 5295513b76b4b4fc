"""The command line. A face: what it says is computed in the layers below.

Nothing heavy is imported before a command needs it, so that ``bnmind --help`` answers
at once.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line on the arguments of the process, and exit.

    Whatever is wrong with the input becomes one line on the standard error stream,
    and exit code 2.
    """
    import sys

    from bnmind.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows "?" for it.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    app(prog_name="bnmind")
