"""Sums of independent variables, without a table of all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from bnmind._values import Sealed, sealed
from bnmind.information import Floats
from bnmind.junction.program.program_inputs import Source
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.functions import Addition
from bnmind.pgm.network import Potential
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

# --- The distribution of a sum of independent variables, by a balanced tree of partial sums -------
#
# A leaf holds the weights of the values of one summand. A node holds the weights of the sum of its
# two children, which are the convolution of theirs. All nodes of a level are computed at once. On
# the way back, each node receives the weights of its sums from the variables outside its subtree,
# so two passes answer all summands (a Shenoy-Shafer propagation whose messages are the weights of
# partial sums). The convolution of two sums of n summands takes n² products. Fourier transforms
# would take fewer, but lose small numbers.
#
# A power of two scales the weights of each node, so that the largest is near one.


def partial_sums(leaves: Floats) -> tuple[list[Floats], int]:
    """Return the weights of all partial sums, level by level, and a power of two.

    Parameters
    ----------
    leaves
        ``(summands, values)``: the weights of the values 0, 1, 2, … of each summand.

    Returns
    -------
    levels, power
        ``(nodes, sums)`` for each level, the leaves first; the last one has a single node, and two
        to the ``power`` times its weights is the distribution of the whole sum. Other levels
        have an even number of nodes; the last one may be padding, a sum that is surely zero.
    """
    rows, powers = scaled(leaves)
    levels, power = [], int(powers.sum())
    while len(rows) > 1:
        if len(rows) % 2:
            rows = np.concatenate([rows, np.eye(1, rows.shape[1])])
        levels.append(rows)
        rows, powers = scaled(_convolved(rows[0::2], rows[1::2]))
        power += int(powers.sum())
    return [*levels, rows], power


def outside(levels: list[Floats], whole: Floats) -> Floats:
    """Return the weight of each value of each summand from the other summands and the whole sum.

    Parameters
    ----------
    levels
        As returned by `partial_sums`.
    whole
        A weight of each value of the whole sum.

    Returns
    -------
    ndarray
        ``(summands, values)``, each row times a power of two. The last rows may be padding.
    """
    rows: Floats = whole[None, :]
    for level in reversed(levels[:-1]):
        n_pairs, n_values = len(level) // 2, level.shape[1]
        windows = sliding_window_view(rows[:n_pairs], n_values, axis=1)
        weights = np.empty((2 * n_pairs, n_values))
        weights[0::2] = _times(windows, level[1::2])
        weights[1::2] = _times(windows, level[0::2])
        rows, _ = scaled(weights)
    return rows


def n_products(n_summands: int, n_values: int) -> int:
    """Return the number of multiplications of both passes."""
    count = 0
    while n_summands > 1:
        n_pairs = (n_summands + 1) // 2
        count += n_pairs * n_values * (4 * n_values - 1)
        n_summands, n_values = n_pairs, 2 * n_values - 1
    return count


def scaled(rows: Floats) -> tuple[Floats, Any]:
    """Return rows as multiples of powers of two that bring their largest numbers near one.

    >>> scaled(np.array([[3.0, 1.0], [0.0, 0.0]]))[1].tolist()
    [2, 0]
    """
    powers = np.frexp(rows.max(axis=1))[1]
    return np.ldexp(rows, -powers[:, None]), powers


def _convolved(left: Floats, right: Floats) -> Floats:
    """Return the convolution of each row with a row."""
    n_pairs, n_values = left.shape
    padded = np.zeros((n_pairs, 3 * n_values - 2))
    padded[:, n_values - 1 : 2 * n_values - 1] = left
    return _times(sliding_window_view(padded, n_values, axis=1), right[:, ::-1])


def _times(matrices: Any, vectors: Floats) -> Floats:
    product: Floats = np.matmul(matrices, vectors[..., None])[..., 0]
    return product


# Queries about many variables that depend only through their sum, answered without a program.
#
# An example is a thousand votes and their total: the votes are dependent only because the total is
# known. The tree of partial sums of `bnmind.junction.program.independent_sum`, whose levels are
# arrays, answers such a query in milliseconds; a program would take some thousand steps.
#
# An observed total may be very improbable. The weight of each value c of a summand is then
# multiplied by 2^(jc), for a whole number j that makes the total probable (exponential tilting).
# Tilting does not change distributions given the total, and changes the probability of the total by
# a known power of two.
#
# Underflow does not matter: all weights are scaled to at most one, and the weight of the total is
# at least 2⁻⁶⁰⁰. Each of fewer than 2⁶⁴ products can lose about 2⁻¹⁰⁷⁴, so that the total loss is
# less than the last digit of the total. A total of smaller weight is not answered here.
#
# References
# ----------
# F. Esscher, "On the probability function in the collective theory of risk", Skandinavisk
# Aktuarietidskrift 15 (1932), 175-195: tilting.

_MANY = 64
"""The least number of summands; sums of fewer variables are answered by a program."""

_LEAST = 2.0**-600
"""The least weight of a total that is answered; see the module."""

_FARTHEST = 1_000
"""The highest power of two of a tilt; larger tilts overflow."""


@dataclass(frozen=True, eq=False)
class Summed(Sealed):
    """The answers of a run."""

    beliefs: Mapping[int, Values]
    """The distribution of each hidden variable, by its number."""
    log_evidence: float
    """The logarithm of the evidence, without the factors of tables of a single number."""


@dataclass(frozen=True, eq=False)
class IndependentSum(Sealed):
    """A compiled sum of variables that are independent except for the sum.

    Its position is ``(start + Σ values) mod modulus``.
    """

    summands: tuple[int, ...]
    """The numbers of the hidden summands."""
    values: NDArray[np.intp]
    """``(summands, states)``: the value of each state, at least 0; −1 where there is no state."""
    layers: tuple[tuple[tuple[int, ...], NDArray[np.intp]], ...]
    """Layers of tables over summands: their registers, and the flat index in ``values`` of each
    of their cells, concatenated. The tables of a layer are over different summands."""
    known: tuple[tuple[str, tuple[int, ...]], ...]
    """The observed summands, and the value of each of their states."""
    start: int
    modulus: int
    child: str
    """The name of the sum."""
    number: int | None
    """The number of the sum; None if it is observed."""
    n_states: int
    """The number of its states."""
    tables: tuple[int, ...]
    """Registers of the other tables over the sum."""

    @property
    def n_values(self) -> int:
        """The number of possible values of a summand."""
        return 1 + int(self.values.max())

    @property
    def multiplications(self) -> int:
        """The number of multiplications of a run."""
        return n_products(len(self.values), self.n_values)

    @property
    def peak_cells(self) -> int:
        """The approximate peak of cells in a run: those of all levels and of a few copies."""
        n_rows = 2 * len(self.values)
        return n_rows * self.n_values * (8 + n_rows.bit_length())

    @property
    def line(self) -> str:
        """The sum in a few words."""
        return f"the sum {self.child} of {len(self.summands):,} independent variables"

    @property
    def steps(self) -> int:
        """The number of summands."""
        return len(self.summands)

    def run(self, registers: Sequence[Values], at: Mapping[str, int]) -> Summed | None:
        """Return the answers for registers cut at the evidence; None if the total is too small.

        Parameters
        ----------
        registers
            The tables, by `bnmind.junction.inference.compiled_query`.
        at
            The position of each observed variable.
        """
        with np.errstate(under="ignore"):
            return self._run(registers, at)

    def _run(self, registers: Sequence[Values], at: Mapping[str, int]) -> Summed | None:
        added = np.maximum(self.values, 0)
        n_totals = 1 + int(added.max(axis=1).sum())
        start = self.start + sum([terms[at[name]] for name, terms in self.known])
        positions = (start + np.arange(n_totals)) % self.modulus
        weights, power = self._weights(registers)
        if self.number is None:
            likelihood = (positions == at[self.child]).astype(np.float64)
            if not likelihood.any():
                return None
            total = int(likelihood.argmax())
            tilt = _tilt(weights, added, total)
            weights, shifts = scaled(np.ldexp(weights, tilt * added))
            power += int(shifts.sum()) - tilt * total
        else:
            states, more = self._of_child(registers)
            likelihood = states[positions]
            power += more
        levels, more = partial_sums(self._leaves(weights))
        whole = np.zeros(levels[-1].shape[1])
        whole[:n_totals] = likelihood
        joint = levels[-1][0] * whole
        evidence = float(joint.sum())
        if not evidence >= _LEAST:
            return None
        rest = outside(levels, whole)
        beliefs = weights * rest[np.arange(len(weights))[:, None], added]
        beliefs /= beliefs.sum(axis=1, keepdims=True)
        beliefs_by_register = dict(zip(self.summands, sealed(beliefs), strict=True))
        if self.number is not None:
            sums = np.bincount(positions, joint[:n_totals] / evidence, self.n_states)
            beliefs_by_register[self.number] = sealed(sums)
        return Summed(beliefs_by_register, math.log(evidence) + (power + more) * math.log(2.0))

    def _weights(self, registers: Sequence[Values]) -> tuple[Floats, int]:
        """Return the product of the tables over each summand, and a power of two taken out."""
        weights = (self.values >= 0).astype(np.float64)
        power = 0
        for members, places in self.layers:
            factors = np.ones(weights.size)
            factors[places] = np.concatenate([registers[i] for i in members])
            weights, powers = scaled(weights * factors.reshape(weights.shape))
            power += int(powers.sum())
        return weights, power

    def _of_child(self, registers: Sequence[Values]) -> tuple[Floats, int]:
        """Return the product of the tables over the sum, and a power of two taken out."""
        states, power = np.ones((1, self.n_states)), 0
        for register in self.tables:
            states, powers = scaled(states * np.real(registers[register]))
            power += int(powers.sum())
        return states[0], power

    def _leaves(self, weights: Floats) -> Floats:
        """Return the weight of each value of each summand; several states may share a value."""
        n_rows, n_values = len(weights), self.n_values
        places = np.maximum(self.values, 0) + n_values * np.arange(n_rows)[:, None]
        sums: Any = np.bincount(places.ravel(), weights.ravel(), n_rows * n_values)
        leaves: Floats = sums.reshape(n_rows, n_values)
        return leaves


def _tilt(weights: Floats, added: NDArray[np.intp], total: int) -> int:
    """Return the power of two for each unit of value that brings the mean near a total."""
    low, high = -_FARTHEST // int(added.max()), _FARTHEST // int(added.max())
    while low < high:
        middle = (low + high) // 2
        tilted, _ = scaled(np.ldexp(weights, middle * added))
        sums = tilted.sum(axis=1)
        mean = float(((tilted * added).sum(axis=1) / np.where(sums > 0, sums, 1.0)).sum())
        low, high = (middle + 1, high) if mean < total else (low, middle)
    return low


def sum_among(
    potentials: Sequence[Potential],
    observed: frozenset[str],
    targets: Sequence[Sequence[Variable]],
) -> FunctionalCPD | None:
    """Return the sum of many variables that are independent except for the sum, if there is one.

    Every other table and every target must be over at most one hidden variable. The variables in
    ``observed`` are not hidden.
    """
    cpd = None
    for potential in potentials:
        n_hidden = sum([v.name not in observed and v.n_states > 1 for v in potential.scope])
        if n_hidden < 2 and isinstance(potential, Factor | TabularCPD):
            continue
        if cpd is not None or not isinstance(potential, FunctionalCPD):
            return None
        cpd = potential
    if cpd is None or len(cpd.parents) < _MANY or not isinstance(cpd.function, Addition):
        return None
    hidden = {v.name for v in cpd.scope} - observed
    others = [v.name for p in potentials for v in p.scope if v.n_states > 1]
    others += [v.name for target in targets for v in target if v.n_states > 1]
    if any(name not in hidden and name not in observed for name in others):
        return None
    if any(sum([v.name in hidden for v in target]) > 1 for target in targets):
        return None
    return cpd


def independent_sum(
    cpd: FunctionalCPD,
    sources: Sequence[Source],
    observed: frozenset[str],
    number: Mapping[str, int],
) -> IndependentSum | None:
    """Return a compiled sum; None if totals may be indistinguishable, or factors have signs.

    Parameters
    ----------
    cpd
        The sum, by `sum_among`.
    sources
        The other tables.
    observed
        The variables whose states each run takes.
    number
        The number of each variable.
    """
    function = cpd.function
    assert isinstance(function, Addition)  # as `sum_among` has seen
    if any(source.signed for source in sources):
        return None
    start = function.constant
    known, terms = [], {}
    for v, term in zip(cpd.parents, function.terms, strict=True):
        if v.name in observed:
            known.append((v.name, term))
        elif v.n_states == 1:
            start += term[0]
        else:
            least = min(term)
            start += least
            terms[number[v.name]] = [value - least for value in term]
    n_totals = 1 + sum(map(max, terms.values()))
    if len(terms) < _MANY or not 1 < n_totals <= function.modulus:
        return None
    width = max(map(len, terms.values()))
    rows = [[*term, *[-1] * (width - len(term))] for term in terms.values()]
    child = cpd.variable.name
    place = {name: width * row for row, name in enumerate(terms)}
    layers: list[tuple[list[int], list[int]]] = []
    depth = dict.fromkeys(terms, 0)
    tables = []
    for register, source in enumerate(sources):
        if not source.scope:
            continue
        (variable,) = source.scope
        if variable not in terms:
            tables.append(register)
            continue
        if depth[variable] == len(layers):
            layers.append(([], []))
        members, places = layers[depth[variable]]
        members.append(register)
        places += range(place[variable], place[variable] + len(terms[variable]))
        depth[variable] += 1
    return IndependentSum(
        summands=tuple(terms),
        values=np.array(rows, dtype=np.intp),
        layers=tuple(
            (tuple(members), np.array(places, dtype=np.intp)) for members, places in layers
        ),
        known=tuple(known),
        start=start,
        modulus=function.modulus,
        child=child,
        number=None if child in observed else number[child],
        n_states=cpd.variable.n_states,
        tables=tuple(tables),
    )
