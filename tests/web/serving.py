"""Real servers for tests, each a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.command_line import ROOT

__all__ = ["serving"]


@contextmanager
def serving(memory: Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start ``bnmind web`` with a folder for its memory; give its address and its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bnmind", "web", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(memory)},
    )
    assert process.stdout is not None
    try:
        found = re.search(r"http\S+(?=/)", process.stdout.readline())
        assert found
        yield found[0], process
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
