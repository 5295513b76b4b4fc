"""pgmpy's reader of BIF, for many small files."""

from __future__ import annotations

from functools import cache
from typing import Any

from bnmind.pgm.formats import pgmpy_object

__all__ = ["bif_reader"]


@cache
def bif_reader() -> Any:
    """Return pgmpy's ``BIFReader``, made to build its grammars once instead of for every file.

    They do not depend on the file, and each pair of them takes more than a second.
    """
    reader: Any = pgmpy_object("pgmpy.readwrite", "BIFReader")

    class Reader(reader):  # type: ignore[misc]
        get_variable_grammar = cache(reader.get_variable_grammar)
        get_probability_grammar = cache(reader.get_probability_grammar)

        def __hash__(self) -> int:
            return 0  # one entry of the cache for all readers

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Reader)

    return Reader
