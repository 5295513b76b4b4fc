r"""The parameters of a network, arranged for learning in one array, and their M-step.

Every table of the network is a part of one array of *cells*, in C-order with the child first; tied
tables are the same part. The cells of free tables come first, and are parameters themselves. Then
come those of noisy nodes, which are computed from the parameters of their links, and the cells that
do not change (fixed tables, functions).

The M-step of noisy maxima and minima is a few steps of EM over their hidden causes. The child is
the maximum of independent contributions Z_0 (the leak), Z_1, …, Z_k, which are not observed. With
N(y, x) the expected number of cases with the child in y and the parents in x,

.. math:: E[\#(Z_i = z, x_i)] = \mathrm{link}_i(z, x_i) \sum_{x \ni x_i} \Big(
    \frac{N(z, x)}{P(z|x)} G_i(z, x) + \sum_{y > z} \frac{N(y, x)}{P(y|x)}
    \big(G_i(y, x) - G_i(y - 1, x)\big)\Big)

where G_i(y, x) = Π_{j ≠ i} P(Z_j ≤ y | x_j). The new link is proportional to this number. Such a
step never lowers the likelihood, so EM with it in the place of a full M-step is a generalized EM.
Links and leaks of zero stay zero: a noisy-or without a leak keeps none.

References
----------
F. J. Díez, "Parameter adjustment in Bayes networks. The generalized noisy OR-gate", UAI 1993;
A. Dempster, N. Laird and D. Rubin, J. R. Stat. Soc. B 1977 (generalized EM).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import listed
from bnmind._values import Sealed
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.fitting.priors import Prior, checked_counts, faults_of_arguments
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.network import Network
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum
from bnmind.pgm.tabular import TabularCPD

MOST_NOISY_CELLS = 2**18
"""The most cells of the expanded table of a noisy node that is learned."""

_ROUNDS = 3
"""Steps over the hidden causes in each M-step."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyBlock(Sealed):
    """The parameters of a noisy node: its leak, then its links, in one array."""

    cpd: NoisyMaximum | NoisyMinimum
    family: int
    first_cell: int
    """Where the expanded table starts in the array of all cells."""
    parameters: Floats
    """The parameters of ``cpd``."""
    pseudo_counts: Floats
    """A pseudo-count for each parameter that is not zero."""

    @classmethod
    def of(
        cls, cpd: NoisyMaximum | NoisyMinimum, family: int, first_cell: int, prior: Prior
    ) -> NoisyBlock:
        """Return the block of a node.

        Raises
        ------
        TooLargeError
            If the expanded table has more than `MOST_NOISY_CELLS` cells.
        """
        if cpd.n_cells > MOST_NOISY_CELLS:
            raise TooLargeError(
                f"expected at most {MOST_NOISY_CELLS:,} cells in the expanded table of a noisy node"
                f" that is learned, got {cpd.n_cells:,} for {cpd.variable.name}; name it in fixed"
                " to keep its parameters",
                needed=cpd.n_cells,
                budget=MOST_NOISY_CELLS,
            )
        parameters = np.concatenate([part.reshape(-1) for part in cpd.contributions])
        priors = [checked_counts(prior, cpd.variable, ())]
        priors += [checked_counts(prior, cpd.variable, (parent,)) for parent in cpd.parents]
        counts = np.concatenate([part.reshape(-1) for part in priors])
        pseudo = np.where(parameters > 0, counts, 0.0)
        return cls(
            cpd=cpd,
            family=family,
            first_cell=first_cell,
            parameters=parameters,
            pseudo_counts=pseudo,
        )

    @property
    def cells(self) -> slice:
        """The place of the expanded table in the array of all cells."""
        return slice(self.first_cell, self.first_cell + self.cpd.n_cells)

    @property
    def n_values(self) -> int:
        """The length of the array of parameters."""
        return len(self.parameters)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        return int(sum((part > 0).sum() - part.shape[1] for part in self.split(self.parameters)))

    def split(self, values: Floats) -> list[Floats]:
        """Return the leak as a column, then the links."""
        parts, end = [], 0
        for part in self.cpd.contributions:
            parts.append(values[end : end + part.size].reshape(part.shape))
            end += part.size
        return parts

    def cpd_of(self, values: Floats) -> NoisyMaximum | NoisyMinimum:
        """Return the node with some parameters."""
        leak, *links = self.split(values)
        return type(self.cpd)(self.cpd.variable, self.cpd.parents, tuple(links), leak[:, 0])

    def table(self, values: Floats) -> Floats:
        """Return the expanded table in one dimension."""
        states = [range(v.n_states) for v in self.cpd.scope]
        return np.ascontiguousarray(self.cpd_of(values).table_on(states)).reshape(-1)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random parameters, with zeros where the node has zeros."""
        drawn = rng.standard_exponential(self.n_values)
        return self.normalized(np.where(self.parameters > 0, drawn, 0.0))

    def normalized(self, values: Floats) -> Floats:
        """Return the distributions in proportion to some values."""
        return np.concatenate(
            [(part / part.sum(axis=0)).reshape(-1) for part in self.split(values)]
        )

    def log_prior(self, values: Floats) -> float:
        """Return Σ α log θ over the parameters with a pseudo-count α > 0."""
        some = self.pseudo_counts > 0
        with np.errstate(divide="ignore"):
            return float(self.pseudo_counts[some] @ np.log(values[some]))

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the parameters after a few steps with expected counts of the expanded table."""
        for _ in range(_ROUNDS):
            values = self._step(values, counts)
        return values

    def _step(self, values: Floats, counts: Floats) -> Floats:
        cpd = self.cpd_of(values)
        shape = tuple(v.n_states for v in cpd.scope)
        table = self.table(values).reshape(shape)
        ratio = np.divide(
            counts.reshape(shape), table, out=np.zeros(shape), where=counts.reshape(shape) > 0
        )
        flip = isinstance(cpd, NoisyMinimum)
        below = [self._spread(part, axis, flip=flip) for axis, part in enumerate(cpd.cumulative())]
        updated = []
        pseudo = self.split(self.pseudo_counts)
        ratio = ratio[::-1] if flip else ratio
        for axis, part in enumerate(self.split(values)):
            others = np.ones((1,) * len(shape))
            for j, one in enumerate(below):
                others = others if j == axis else others * one
            others = np.broadcast_to(others, shape)
            steps = np.diff(others, axis=0, prepend=0.0)
            gone = tuple(a for a in range(1, len(shape)) if a != axis)
            equal = (ratio * others).sum(axis=gone).reshape(shape[0], -1)
            above = (ratio * np.maximum(steps, 0.0)).sum(axis=gone).reshape(shape[0], -1)
            above = np.cumsum(above[::-1], axis=0)[::-1] - above
            weight = equal + above
            expected = part * (weight[::-1] if flip else weight) + pseudo[axis]
            sums = expected.sum(axis=0)
            # A parent's state without cases keeps its distribution.
            share = np.divide(expected, sums, out=part.copy(), where=sums > 0)
            updated.append(share.reshape(-1))
        return np.concatenate(updated)

    def _spread(self, cumulative: Floats, axis: int, *, flip: bool) -> Floats:
        """Return an array ``(states, parents' states)`` with axes of the expanded table."""
        shape = [1] * len(self.cpd.scope)
        shape[0] = len(cumulative)
        if axis:
            shape[axis] = cumulative.shape[1]
        return (cumulative[::-1] if flip else cumulative).reshape(shape)


MOST_CELLS = 2**24
"""The most cells of all tables together, small functions and noisy nodes expanded."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Layout(Sealed):
    """The arrangement of a network's tables in arrays of parameters and of cells.

    Families and variables have the same numbers: the order of ``network.variables``.
    """

    network: Network
    scopes: tuple[tuple[int, ...], ...]
    """For each family, the numbers of the child and its parents."""
    offsets: NDArray[np.int64]
    """``(families,)``: where the table starts in the cells; the same for tied tables."""
    strides: NDArray[np.int64]
    """``(families, variables)``: the step of a variable's states in the table, 0 if not in it."""
    free: NDArray[np.bool_]
    """``(families,)``: whether the family has parameters of its own or shared ones."""
    large: NDArray[np.bool_]
    """``(families,)``: functions and fixed noisy nodes that are not expanded and have no cells."""
    columns: NDArray[np.intp]
    """``(free cells,)``: the configuration of parents, numbered over all free tables."""
    uniform: Floats
    """``(free cells,)``: one over the number of states of the child."""
    pseudo_counts: Floats
    """``(free cells,)``."""
    constant: Floats
    """All cells, with zeros for those that are learned."""
    noisy: tuple[NoisyBlock, ...]
    """The noisy nodes that are learned."""

    @classmethod
    def of(
        cls,
        network: Network,
        prior: Prior,
        *,
        fixed: Iterable[str] = (),
        tied: Sequence[Sequence[str]] = (),
    ) -> Layout:
        """Return the layout of a network; see `bnmind.fit` for the arguments.

        Raises
        ------
        InvalidArgumentError
            If ``prior``, ``fixed`` or ``tied`` do not fit the network. The message lists all
            faults.
        TooLargeError
            If the tables have more than `MOST_CELLS` cells.
        """
        kept = tuple(fixed)
        groups = tuple(tuple(group) for group in tied)
        if problems := faults_of_arguments(network, prior, kept, groups):
            raise InvalidArgumentError(listed(problems), tuple(problems))
        cells = sum(cpd.n_cells for cpd in network.cpds if not _is_large(cpd, kept))
        if cells > MOST_CELLS:
            raise TooLargeError(
                f"expected tables of at most {MOST_CELLS:,} cells together, got {cells:,}",
                needed=cells,
                budget=MOST_CELLS,
            )
        return _laid_out(network, prior, frozenset(kept), groups)

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.constant)

    @property
    def n_free_cells(self) -> int:
        """The number of cells of free tables."""
        return len(self.columns)

    @property
    def n_learned_cells(self) -> int:
        """The number of cells of free tables and of learned noisy nodes."""
        return self.n_free_cells + sum(block.cpd.n_cells for block in self.noisy)

    @property
    def n_values(self) -> int:
        """The length of the array of parameters."""
        return self.n_free_cells + sum(block.n_values for block in self.noisy)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: those of each distribution but one."""
        in_tables = self.n_free_cells - (int(self.columns.max()) + 1 if len(self.columns) else 0)
        return in_tables + sum(block.n_parameters for block in self.noisy)

    def start(
        self, counts: Floats, rng: np.random.Generator | None, *, uniform: float = 0.01
    ) -> Floats:
        """Return parameters to start from.

        Parameters
        ----------
        counts
            The counts of the families that are complete in a case, ``(cells,)``.
        rng
            Draws distributions that count as one case in each configuration of the parents. If
            None, those of the network are used.
        uniform
            The share of uniform distributions that is mixed with those of the network.
        """
        n = self.n_free_cells
        if rng is None:
            before = np.concatenate(
                [
                    self.network.cpds[family].to_tabular().values.reshape(-1)
                    for family in self._first_families()
                ]
                or [np.zeros(0)]
            )
            before = (1 - uniform) * before + uniform * self.uniform
        else:
            before = self.normalized(rng.standard_exponential(n))
        tables = self.normalized(before + counts[:n])
        rest = [block.parameters if rng is None else block.draw(rng) for block in self.noisy]
        return np.concatenate([tables, *rest])

    def _first_families(self) -> list[int]:
        """Return the first family of each free table, in the order of the cells."""
        first: dict[int, int] = {}
        noisy = {block.family for block in self.noisy}
        for family in np.flatnonzero(self.free).tolist():
            if family not in noisy:
                first.setdefault(int(self.offsets[family]), family)
        return [first[offset] for offset in sorted(first)]

    def normalized(self, counts: Floats) -> Floats:
        """Return the distributions of free tables in proportion to counts; uniform where zero."""
        sums = np.bincount(self.columns, weights=counts)[self.columns] if len(counts) else counts
        share: Floats = np.divide(counts, sums, out=self.uniform.copy(), where=sums > 0)
        return share

    def cells(self, parameters: Floats) -> Floats:
        """Return all tables."""
        cells = self.constant.copy()
        cells[: self.n_free_cells] = parameters[: self.n_free_cells]
        for block, values in self.of_noisy(parameters):
            cells[block.cells] = block.table(values)
        return cells

    def maximize(self, parameters: Floats, counts: Floats) -> Floats:
        """Return the parameters after an M-step with expected counts ``(cells,)``."""
        n = self.n_free_cells
        rest = [
            block.maximize(values, counts[block.cells])
            for block, values in self.of_noisy(parameters)
        ]
        return np.concatenate([self.normalized(counts[:n] + self.pseudo_counts), *rest])

    def log_prior(self, parameters: Floats) -> float:
        """Return Σ α log θ over all parameters with a pseudo-count α > 0."""
        some = self.pseudo_counts > 0
        with np.errstate(divide="ignore"):
            logs = np.log(parameters[: self.n_free_cells][some])
        return float(self.pseudo_counts[some] @ logs) + sum(
            block.log_prior(values) for block, values in self.of_noisy(parameters)
        )

    def within(self, numbers: Floats, known: Floats) -> Floats:
        """Return valid parameters near some numbers; parameters of zero stay zero."""
        # No step of EM leaves a probability of zero, so that an extrapolation must not reach it.
        positive = np.where(known > 0, np.where(numbers > 0, numbers, known * 0.5), 0.0)
        tables = self.normalized(positive[: self.n_free_cells])
        rest = [block.normalized(values) for block, values in self.of_noisy(positive)]
        return np.concatenate([tables, *rest])

    def of_noisy(self, parameters: Floats) -> list[tuple[NoisyBlock, Floats]]:
        """Return each learned noisy node with its parameters."""
        end = self.n_free_cells
        parts = []
        for block in self.noisy:
            parts.append((block, parameters[end : end + block.n_values]))
            end += block.n_values
        return parts

    def network_of(self, parameters: Floats) -> Network:
        """Return the network with some parameters; other distributions are the same objects."""
        cells = self.cells(parameters)
        learned: dict[int, CPD] = {
            block.family: block.cpd_of(values) for block, values in self.of_noisy(parameters)
        }
        for family, cpd in enumerate(self.network.cpds):
            if self.free[family] and family not in learned:
                values = self.table(cells, family)
                learned[family] = TabularCPD(cpd.variable, cpd.parents, values)
        return Network(tuple(learned.get(f, cpd) for f, cpd in enumerate(self.network.cpds)))

    def table(self, cells: Floats, family: int) -> Floats:
        """Return the part of the cells that belongs to a family, with an axis for each variable.

        A large family has none.
        """
        shape = tuple(v.n_states for v in self.network.cpds[family].scope)
        start = int(self.offsets[family])
        return cells[start : start + math.prod(shape)].reshape(shape)


def _is_large(cpd: CPD, fixed: Collection[str]) -> bool:
    """Return whether a node is not expanded: it has no parameters, and its table is large."""
    if isinstance(cpd, TabularCPD) or cpd.n_cells <= MOST_NOISY_CELLS:
        return False
    return isinstance(cpd, FunctionalCPD) or cpd.variable.name in fixed


def _laid_out(
    network: Network, prior: Prior, fixed: frozenset[str], tied: tuple[tuple[str, ...], ...]
) -> Layout:
    number = {v.name: i for i, v in enumerate(network.variables)}
    first_of = {name: group[0] for group in tied for name in group}
    # Tied families share the table of the first of them in the network.
    in_order = sorted(number[name] for name in first_of)
    lead: dict[str, int] = {}
    for family in in_order:
        lead.setdefault(first_of[network.variables[family].name], family)
    leader = [
        lead[first_of[v.name]] if v.name in first_of else i for i, v in enumerate(network.variables)
    ]
    learned = [
        not isinstance(cpd, FunctionalCPD) and cpd.variable.name not in fixed
        for cpd in network.cpds
    ]
    rank = [
        2 if not learned[f] else 0 if isinstance(cpd, TabularCPD) else 1
        for f, cpd in enumerate(network.cpds)
    ]
    large = [_is_large(cpd, fixed) for cpd in network.cpds]
    offsets = np.zeros(len(network.cpds), dtype=np.int64)
    strides = np.zeros((len(network.cpds), len(network.cpds)), dtype=np.int64)
    columns, uniform, pseudo, constant, noisy = [], [], [], [], []
    end = n_columns = 0
    for family in sorted(range(len(network.cpds)), key=lambda f: (rank[f], f)):
        cpd = network.cpds[family]
        if leader[family] != family or large[family]:
            continue
        size = math.prod(v.n_states for v in cpd.scope)
        offsets[family] = end
        if rank[family] == 0:
            n = cpd.variable.n_states
            columns.append(n_columns + np.tile(np.arange(size // n, dtype=np.intp), n))
            n_columns += size // n
            uniform.append(np.full(size, 1 / n))
            pseudo.append(checked_counts(prior, cpd.variable, cpd.parents).reshape(-1))
            constant.append(np.zeros(size))
        elif rank[family] == 1:
            assert not isinstance(cpd, TabularCPD | FunctionalCPD)
            noisy.append(NoisyBlock.of(cpd, family, end, prior))
            constant.append(np.zeros(size))
        else:
            constant.append(np.real(cpd.to_factor(max_cells=size).values).reshape(-1))
        end += size
    for family, cpd in enumerate(network.cpds):
        offsets[family] = offsets[leader[family]]
        step = 1
        for v in () if large[family] else reversed(cpd.scope):
            strides[family, number[v.name]] = step
            step *= v.n_states
    return Layout(
        network=network,
        scopes=tuple(tuple(number[v.name] for v in cpd.scope) for cpd in network.cpds),
        offsets=offsets,
        strides=strides,
        free=np.array(learned, dtype=np.bool_),
        large=np.array(large, dtype=np.bool_),
        columns=np.concatenate([np.zeros(0, dtype=np.intp), *columns]),
        uniform=np.concatenate([np.zeros(0), *uniform]),
        pseudo_counts=np.concatenate([np.zeros(0), *pseudo]),
        constant=np.concatenate([np.zeros(0), *constant]),
        noisy=tuple(noisy),
    )
