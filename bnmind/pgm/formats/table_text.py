"""Tables as rows of numbers, and numbers as text, for all formats."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

import numpy as np

from bnmind.information import Floats
from bnmind.pgm.cpd import CPD

__all__ = ["rows_of", "written", "xml_text"]


def rows_of(cpd: CPD) -> Floats:
    """Return the distributions of the child, ``(configurations of the parents, states)``.

    The last parent varies fastest. Functions are expanded to tables of any size.
    """
    table = cpd.to_tabular(max_cells=cpd.n_cells)
    return np.moveaxis(table.values, 0, -1).reshape(-1, cpd.variable.n_states)


def written(numbers: Iterable[float], separator: str = " ") -> str:
    """Return numbers with all their digits."""
    return separator.join(map(repr, numbers))


def xml_text(root: ElementTree.Element) -> str:
    """Return a whole XML document, indented."""
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'
