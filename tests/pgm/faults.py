"""Faults of model files, which readers report with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from bnmind.errors import ModelFileError
from bnmind.pgm.files import read_model

__all__ = ["require_fault"]


def require_fault(path: Path, content: str | bytes, place: tuple[int, int], words: str) -> None:
    """Require that reading a file fails with some words, and names the file, line and column."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ModelFileError) as caught:
        read_model(path)
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.column) == place
    assert f"at line {place[0]}, column {place[1]}" in str(caught.value)
    assert str(path) in str(caught.value)
