"""Networks as flat arrays, for queries about a few targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import ReadOnlyDict, Sealed, made, sealed
from bnmind.junction.single.light_order_kernel import LightArrays
from bnmind.pgm.cpd import CPD
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable
from bnmind.rank_one.forms import chain_form

__all__ = ["MOST_CELLS", "LightModel"]

MOST_CELLS = 2**16
"""The most cells of a table that is written out for a functional or noisy distribution."""

_SMALL_TABLE = 2**10
"""The most cells of such a table without a look for a smaller chain."""

_FRACTION = 32
"""The fractional binary digits of the logarithms of numbers of states."""


@dataclass(frozen=True, eq=False, repr=False)
class LightModel(Sealed):
    """A network prepared for queries about a few targets, see `light_posterior`.

    Prepare it once and ask it often: the evidence and the targets may differ from query to query.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> LightModel.of(Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                        TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]]))))
    LightModel(2 variables, 6 cells)
    """

    network: Network
    """The network."""
    arrays: LightArrays
    """Its tables. Variables of chains, which large distributions are written as, come last."""
    numbers: Mapping[str, int]
    """The number of each variable in the arrays."""

    @classmethod
    @checked
    def of(cls, network: Network) -> LightModel:
        """Return the prepared network.

        Large functional and noisy distributions become chains of small tables if possible.

        Parameters
        ----------
        network
            The network.
        """
        names = [v.name for v in network.variables]
        own = frozenset(names)
        cpds = [form for cpd in network.cpds for form in _forms(cpd, own)]
        names += [cpd.variable.name for cpd in cpds if cpd.variable.name not in own]
        numbers = {name: i for i, name in enumerate(names)}
        by_name = {cpd.variable.name: cpd for cpd in cpds}
        ordered = [by_name[name] for name in names]
        sizes = np.array([cpd.variable.n_states for cpd in ordered], dtype=np.int64)
        n_parents = [len(cpd.parents) for cpd in ordered]
        parents = [numbers[v.name] for cpd in ordered for v in cpd.parents]
        has_table = [_has_table(cpd) for cpd in ordered]
        counts = [cpd.n_cells if has else 0 for cpd, has in zip(ordered, has_table, strict=True)]
        starts = np.cumsum([0, *counts])[:-1]
        tables = [
            cpd.to_tabular().values.ravel()
            for cpd, has in zip(ordered, has_table, strict=True)
            if has
        ]
        arrays = LightArrays(
            n_states=sealed(sizes),
            logarithms=sealed(np.round(np.log2(sizes) * 2.0**_FRACTION).astype(np.int64)),
            starts=sealed(np.cumsum([0, *n_parents], dtype=np.int64)),
            parents=sealed(np.array(parents, dtype=np.int64)),
            table_starts=sealed(np.where(has_table, starts, -1).astype(np.int64)),
            tables=sealed(np.concatenate([*tables, np.empty(0)])),
        )
        return made(cls, network=network, arrays=arrays, numbers=ReadOnlyDict(numbers))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the network, parents before children."""
        return self.network.variables

    def __repr__(self) -> str:
        cells = self.arrays.tables.size
        return f"LightModel({counted(len(self.variables), 'variable')}, {counted(cells, 'cell')})"


def _has_table(cpd: CPD) -> bool:
    return isinstance(cpd, TabularCPD) or cpd.n_cells <= MOST_CELLS


def _forms(cpd: CPD, own: frozenset[str]) -> tuple[CPD, ...]:
    """Return a distribution, or the chain of small tables that it can be written as.

    ``own`` are the names of the network's variables.
    """
    if isinstance(cpd, TabularCPD) or cpd.n_cells <= _SMALL_TABLE:
        return (cpd,)
    chain = chain_form(cpd, name=f"part of {cpd.variable.name}", max_cells=MOST_CELLS)
    if chain is None or not all(map(_has_table, chain)):
        return (cpd,)
    added = {link.variable.name for link in chain} - {cpd.variable.name}
    return (cpd,) if added & own else chain
