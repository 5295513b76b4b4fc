"""``python -m bnmind``: the same as ``bnmind``."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line, and exit; Ctrl-C during the first import ends it in silence too."""
    try:
        from bnmind.cli import main as run
    except KeyboardInterrupt:
        import os

        os._exit(130)
    run()


if __name__ == "__main__":
    main()
