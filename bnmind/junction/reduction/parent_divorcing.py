"""Small non-negative tables for maximization and sampling.

A rank-one factorization of a sum has negative terms, which cannot be maximized or sampled. A
function of many parents becomes a chain of partial results instead, see `bnmind.rank_one.forms`.
The partial results are functions of the parents, so the chain is valid for maxima and for sums. The
partial results of a noisy extremum are random, so its chain is valid only for sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential
from bnmind.rank_one.forms import chain_form

__all__ = ["small_tables"]

_SMALL = 2**10
"""The most cells of a table that stays unchanged."""


def small_tables(
    potentials: Iterable[Potential], names: Iterable[str], *, sums_only: bool, max_cells: int
) -> tuple[Potential, ...]:
    """Return non-negative tables that multiply to the same as the potentials.

    Parameters
    ----------
    potentials
        Distributions, and factors of non-negative numbers.
    names
        Names that auxiliary variables must not have.
    sums_only
        Whether the auxiliary variables will be summed out, so that noisy extrema may also be
        split into steps.
    max_cells
        The largest table allowed.

    Raises
    ------
    TooLargeError
        If a distribution cannot be split into steps and is too large. The error names the
        variable.
    InvalidModelError
        If a factor has negative or complex values.
    """
    used_names = set(names)
    return tuple(
        table
        for potential in potentials
        for table in _tables(potential, used_names, sums_only=sums_only, max_cells=max_cells)
    )


def _tables(
    cpd: Potential, taken: set[str], *, sums_only: bool, max_cells: int
) -> Sequence[Potential]:
    if isinstance(cpd, Factor):
        if np.iscomplexobj(cpd.values) or np.any(cpd.values < 0):
            over = ", ".join(cpd.names) or "no variable"
            raise InvalidModelError(
                [f"the factors must not be negative or complex, but the one over {over} is"]
            )
        return [cpd]
    if cpd.n_cells > _SMALL and (sums_only or isinstance(cpd, FunctionalCPD)):
        prefix = f"{cpd.variable.name}--"
        while any(f"{prefix}_{i}" in taken for i in range(len(cpd.parents) + 1)):
            prefix += "-"
        steps = chain_form(cpd, name=prefix, max_cells=max_cells)
        if steps is not None:
            taken |= {step.variable.name for step in steps}
            return steps
    try:
        return [cpd.to_factor(max_cells=max_cells)]
    except TooLargeError as fault:
        raise TooLargeError(
            f"{fault}, which does not break into steps"
            f" {'that can be summed' if sums_only else 'that can be maximized'}",
            needed=fault.needed,
            budget=fault.budget,
        ) from None
