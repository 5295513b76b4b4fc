"""States that a reader of files may have taken for missing cells.

`pandas.read_csv` reads some texts, such as ``None`` and ``NA``, as missing cells. Where they are
states of a variable, all cases with these states are lost without a word.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import one_line
from bnmind.pgm.variable import Variable

__all__ = ["CaseTableWarning", "warn_of_lost_states"]

_READ_AS_MISSING = frozenset(
    (
        *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
        *("", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)
"""The texts that `pandas.read_csv` takes for missing cells (pandas 2.2, ``na_values``)."""

_SHOWN = 5


class CaseTableWarning(UserWarning):
    """A table of cases can be read, but may not mean what its author thinks."""


def warn_of_lost_states(
    columns: Iterable[tuple[Variable, NDArray[np.int32], Sequence[int]]],
) -> None:
    """Warn if missing cells may have been states when the file was read.

    A column is suspected if some of its cells are missing, some are not, and the variable has the
    state ``None`` (or ``NA``, …), which neither a cell nor a category of the column holds.

    Parameters
    ----------
    columns
        Variables with the state position of each cell, -1 where it is missing, and the positions
        of the states that the column knows.
    """
    lost = []
    for variable, positions, known in columns:
        names = [state for state in variable.states if state in _READ_AS_MISSING]
        if not names or not np.any(positions < 0) or not np.any(positions >= 0):
            continue
        lost += [(variable.name, s) for s in names if variable.states.index(s) not in known]
    if lost:
        some = ", ".join(f"{one_line(name)} ({state})" for name, state in lost[:_SHOWN])
        more = f" and {len(lost) - _SHOWN:,} more" if len(lost) > _SHOWN else ""
        warnings.warn(
            f"these columns have missing cells, but never a state whose name pandas reads as"
            f" missing: {some}{more}; if the cells held this state, read the file by"
            " pandas.read_csv(…, keep_default_na=False)",
            CaseTableWarning,
            stacklevel=2,
        )
