"""``python -m bnmind``: the same as ``bnmind``."""

from __future__ import annotations

from bnmind.cli import main

if __name__ == "__main__":
    main()
