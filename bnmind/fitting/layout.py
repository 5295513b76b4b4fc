r"""The parameters of a network, arranged for learning in one array, and their M-step.

Every table of the network is a part of one array of *cells*, in C-order with the child first; tied
tables are the same part. The cells of free tables come first, and are parameters themselves. Then
come those of noisy nodes, which are computed from the parameters of their links, and the cells that
do not change (fixed tables, functions).

The M-step of noisy maxima and minima is a few steps of EM over their hidden causes. The child is
the maximum of independent contributions Z_0 (the leak), Z_1, …, Z_k, which are not observed. With
N(y, x) the expected number of cases with the child in y and the parents in x,

.. math:: E[\#(Z_i = z, x_i)] = \mathrm{link}_i(z, x_i) \sum_{x \ni x_i, y}
    \frac{N(y, x)}{P(y|x)} \frac{\partial P(y|x)}{\partial\, \mathrm{link}_i(z, x_i)}

(see `NoisyMaximum.partials`). The new link is proportional to this number. Such a
step never lowers the likelihood, so EM with it in the place of a full M-step is a generalized EM.
Links and leaks of zero stay zero: a noisy-or without a leak keeps none.

References
----------
F. J. Díez, "Parameter adjustment in Bayes networks. The generalized noisy OR-gate", UAI 1993;
A. Dempster, N. Laird and D. Rubin, J. R. Stat. Soc. B 1977 (generalized EM).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import many, one_line, shown
from bnmind._registry import NUMBER, Registered
from bnmind._values import Finite, NonNegative, Positive, Sealed, Value
from bnmind.errors import InvalidArgumentError, TooLargeError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.network import Network
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

# --- Priors ---------------------------------------------------------------------------------------
#
# Dirichlet priors of tables, given by their pseudo-counts, and the faults of such arguments.
#
# A prior adds pseudo-counts to the counts of a table. The table of the fitted network is the mean
# of the posterior distribution, (n + α) / Σ (n + α), in each configuration of the parents. EM with
# such a prior maximizes the log-likelihood plus Σ α log θ, and this objective never decreases.


@runtime_checkable
class Prior(Protocol):
    """The interface of priors: a function from a family to pseudo-counts."""

    def pseudo_counts(self, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
        """Return the pseudo-counts of a table.

        Parameters
        ----------
        variable, parents
            The child of the table and its parents, in the order of the axes. For a link of a
            noisy maximum or minimum, the child and a single parent; for its leak, no parent.

        Returns
        -------
        numpy.ndarray
            Finite numbers of at least 0, ``(states of the child, states of parent 1, …)``.
        """


@dataclass(frozen=True)
class Laplace(Value):
    """The same pseudo-count in every cell of every table.

    Parameters
    ----------
    count
        The pseudo-count; 1 is the rule of succession of Laplace, and the prior of K2. With 0, the
        likelihood alone is maximized, and a distribution is uniform in configurations of the
        parents that the cases do not contain.

    Raises
    ------
    InvalidArgumentError
        If it is negative or not finite.

    References
    ----------
    G. Cooper and E. Herskovits, "A Bayesian method for the induction of probabilistic networks
    from data", Machine Learning 1992.
    """

    count: NonNegative = 1.0

    @checked
    def pseudo_counts(self, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
        """Return the count in all cells; see `Prior.pseudo_counts`."""
        return np.full([v.n_states for v in (variable, *parents)], float(self.count))


NO_PRIOR = Laplace(0)
"""No pseudo-counts: maximum likelihood."""


@dataclass(frozen=True)
class BDeu(Value):
    """Pseudo-counts that sum to the same number in every table, uniform in the table (BDeu).

    Parameters
    ----------
    equivalent_sample_size
        The sum of the pseudo-counts of a table. Tables of more cells have smaller pseudo-counts.

    Raises
    ------
    InvalidArgumentError
        If it is not positive or not finite.

    References
    ----------
    D. Heckerman, D. Geiger and D. Chickering, "Learning Bayesian networks: the combination of
    knowledge and statistical data", Machine Learning 1995.

    Examples
    --------
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> BDeu(10).pseudo_counts(wet, (rain,)).tolist()
    [[2.5, 2.5], [2.5, 2.5]]
    """

    equivalent_sample_size: Positive = 10.0

    @checked
    def pseudo_counts(self, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
        """Return the equivalent sample size over the number of cells; see `Prior`."""
        shape = [v.n_states for v in (variable, *parents)]
        return np.full(shape, self.equivalent_sample_size / math.prod(shape))


@dataclass(frozen=True, eq=False)
class Dirichlet(Value):
    """Pseudo-counts of some variables as given, and another prior for the others.

    Parameters
    ----------
    counts
        For some variables, the pseudo-counts of the table: an array of its shape, or one number
        for all its cells. For a noisy node, one number for all cells of its leak and links. `fit`
        refuses counts of variables whose tables are fixed, and of tied variables but the first in
        the order of the network.
    other
        The prior of all other variables.

    Raises
    ------
    InvalidArgumentError
        If a pseudo-count is negative or not finite.

    Examples
    --------
    >>> rain = Variable("rain", ("no", "yes"))
    >>> Dirichlet({"rain": [8, 2]}).pseudo_counts(rain, ()).tolist()
    [8.0, 2.0]
    """

    counts: Mapping[str, Annotated[ArrayLike, Ge(0), Finite]]
    other: Prior = NO_PRIOR

    @checked
    def pseudo_counts(self, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
        """Return the given counts of the variable; see `Prior.pseudo_counts`.

        Raises
        ------
        InvalidArgumentError
            If the counts do not have the shape of the table.
        """
        if variable.name not in self.counts:
            return self.other.pseudo_counts(variable, parents)
        counts = np.asarray(self.counts[variable.name])
        shape = tuple(v.n_states for v in (variable, *parents))
        if counts.ndim and counts.shape != shape:
            raise InvalidArgumentError(
                f"expected pseudo-counts of shape {shape} for {variable.name}, got {counts.shape}",
                counts,
            )
        return np.array(np.broadcast_to(counts, shape))


def checked_counts(prior: Prior, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
    """Return the pseudo-counts of a table, checked.

    Raises
    ------
    InvalidArgumentError
        If the prior returns anything but finite numbers of at least 0 in the table's shape.
    """
    counts = np.asarray(prior.pseudo_counts(variable, parents), dtype=np.float64)
    shape = tuple(v.n_states for v in (variable, *parents))
    if counts.shape != shape or not np.all(np.isfinite(counts) & (counts >= 0)):
        raise InvalidArgumentError(
            f"the prior must return finite pseudo-counts of at least 0 in the shape {shape} for"
            f" {variable.name}, got an array of shape {counts.shape}",
            counts,
        )
    return counts


PRIORS: Mapping[str, Registered[Prior]] = MappingProxyType(
    {
        "none": Registered("no pseudo-counts: maximum likelihood", lambda: NO_PRIOR),
        "laplace": Registered("pseudo-counts of 1, or of N", Laplace, NUMBER, Laplace),
        "bdeu": Registered("an equivalent sample of 10 cases, or of N", BDeu, NUMBER, BDeu),
    }
)
"""The priors by the names of the command line."""


def faults_of_arguments(
    network: Network, prior: Prior, fixed: Sequence[str], tied: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Yield the faults of a prior, and of fixed and tied variables, for a network."""
    known = {cpd.variable.name: cpd for cpd in network.cpds}
    names = [*fixed, *chain(*tied)]
    counts: dict[str, Any] = {}
    while isinstance(prior, Dirichlet):
        counts = {**prior.counts, **counts}
        prior = prior.other
    if unknown := [name for name in dict.fromkeys([*names, *counts]) if name not in known]:
        yield from [str(UnknownNameError("variable", name, known)) for name in unknown]
        return
    for name, times in sorted(Counter(names).items()):
        if times > 1:
            yield f"expected {name} in one place of fixed and tied, got it twice"
    for group in tied:
        yield from _faults_of_group([known[name] for name in group])
    leaders = _leaders(known, tied)
    for name, count in counts.items():
        if name in fixed or isinstance(known[name], FunctionalCPD):
            why = "its table is fixed" if name in fixed else "its function is not learned"
            yield f"pseudo-counts of {name} are not used, as {why}; leave them out"
        elif leaders[name] != name:
            yield (
                f"pseudo-counts of {name} are not used, as its table is tied to that of"
                f" {leaders[name]}; give those of {leaders[name]} instead"
            )
        elif not isinstance(known[name], TabularCPD) and count.ndim:
            yield (
                f"expected one number as the pseudo-counts of {name}, a noisy node with several"
                f" tables, got an array of shape {count.shape}"
            )


def _leaders(names: Iterable[str], tied: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return for each variable, in the network's order, the first one that shares its table."""
    leaders = {name: name for name in names}
    for group in tied:
        leaders |= dict.fromkeys(group, next((name for name in leaders if name in group), ""))
    return leaders


def _faults_of_group(group: Sequence[CPD]) -> Iterator[str]:
    """Yield why some distributions cannot share a table."""
    names = ", ".join(one_line(cpd.variable.name) for cpd in group)
    if len(group) < 2:
        yield f"expected at least two variables with a tied table, got {names or 'none'}"
    for cpd in group:
        if not isinstance(cpd, TabularCPD):
            yield f"only tables can be tied, and {cpd.variable.name} is not given by a table"
    shapes = sorted({tuple(v.n_states for v in cpd.scope) for cpd in group})
    if len(shapes) > 1:
        told = " and ".join(map(str, shapes))
        yield f"expected tied tables of one shape for {names}, got {told}"
        return
    for cpd in group[1:]:
        yield from _differences(group[0], cpd)


def _differences(first: CPD, second: CPD) -> Iterator[str]:
    """Yield how the axes of two tables of one shape differ."""
    rule = "tied tables are shared position by position, and the"
    ours, theirs = first.variable.name, second.variable.name
    own, others = ([one_line(v.name) for v in cpd.parents] for cpd in (first, second))
    if own != others and sorted(own) == sorted(others):
        yield (
            f"{rule} parents of {ours} are {', '.join(own)}, those of {theirs} are"
            f" {', '.join(others)}; give them in the same order"
        )
        return
    for one, other in zip(first.scope, second.scope, strict=True):
        if one.states != other.states:
            yield (
                f"{rule} states of {one.name} (in the table of {ours}) are {shown(one.states)},"
                f" those of {other.name} (in the table of {theirs}) are {shown(other.states)};"
                " give them the same states in the same order"
            )


# --- The arrangement in arrays --------------------------------------------------------------------

MOST_NOISY_CELLS = 2**18
"""The most cells of the expanded table of a noisy node that is learned."""

_ROUNDS = 3
"""Steps over the hidden causes in each M-step."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyBlock(Sealed):
    """A noisy node that is learned. Its parameters are its leak, then its links, in one array."""

    cpd: NoisyMaximum | NoisyMinimum
    family: int
    first_cell: int
    """Where the expanded table starts in the array of all cells."""
    first: int
    """Where the parameters start in the array of all parameters."""

    @property
    def cells(self) -> slice:
        """The place of the expanded table in the array of all cells."""
        return slice(self.first_cell, self.first_cell + self.cpd.n_cells)

    @property
    def place(self) -> slice:
        """The place of the parameters in the array of all parameters."""
        return slice(self.first, self.first + sum(part.size for part in self.cpd.contributions))

    def split(self, values: Floats) -> list[Floats]:
        """Return the leak as a column, then the links."""
        ends = np.cumsum([part.size for part in self.cpd.contributions])
        parts = zip(np.split(values, ends[:-1]), self.cpd.contributions, strict=True)
        return [part.reshape(own.shape) for part, own in parts]

    def cpd_of(self, values: Floats) -> NoisyMaximum | NoisyMinimum:
        """Return the node with some parameters."""
        leak, *links = self.split(values)
        return type(self.cpd)(self.cpd.variable, self.cpd.parents, tuple(links), leak[:, 0])

    def table(self, values: Floats) -> Floats:
        """Return the expanded table."""
        return self.cpd_of(values).table_on([range(v.n_states) for v in self.cpd.scope])

    def expected(self, values: Floats, counts: Floats) -> Floats:
        """Return how often each contribution is expected, from counts of the expanded table."""
        table = self.table(values)
        counts = counts.reshape(table.shape)
        ratio = np.divide(counts, table, out=np.zeros_like(counts), where=counts > 0)
        return values * _joined(self.cpd_of(values).partials(ratio))


MOST_CELLS = 2**24
"""The most cells of all tables together, small functions and noisy nodes expanded."""


def check_cells(cells: int, advice: str = "") -> None:
    """Raise `TooLargeError` if tables have more than `MOST_CELLS` cells."""
    TooLargeError.check(
        f"expected tables of at most {MOST_CELLS:,} cells together, got {many(cells)}{advice}",
        needed=cells,
        budget=MOST_CELLS,
    )


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
    n_free_cells: int
    """The number of cells of free tables."""
    columns: NDArray[np.intp]
    """``(parameters,)``: the distribution that a parameter belongs to, numbered over all."""
    uniform: Floats
    """``(parameters,)``: one over the number of states of the child."""
    pseudo_counts: Floats
    """``(parameters,)``; zero for the zeros of noisy nodes."""
    own: Floats
    """``(parameters,)``: those of the network."""
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
        kept, groups = tuple(fixed), tuple(map(tuple, tied))
        if problems := [*faults_of_arguments(network, prior, kept, groups)]:
            raise InvalidArgumentError(problems, tuple(problems))
        large = [_is_large(cpd, kept) for cpd in network.cpds]
        check_cells(sum(cpd.n_cells for cpd in network.cpds if not _is_large(cpd, kept)))
        number = {v.name: i for i, v in enumerate(network.variables)}
        # Tied families share the table of the first of them in the network.
        leader = [number[name] for name in _leaders(number, groups).values()]
        learned = [
            not isinstance(cpd, FunctionalCPD) and cpd.variable.name not in kept
            for cpd in network.cpds
        ]
        offsets = np.zeros(len(network.cpds), dtype=np.int64)
        strides = np.zeros((len(network.cpds), len(network.cpds)), dtype=np.int64)
        constant, noisy = list[Floats](), list[NoisyBlock]()
        parts, columns = list[tuple[Floats, Floats]](), list[NDArray[np.intp]]()
        end = n_values = n_columns = 0
        # Free tables, then learned noisy nodes, then the others.
        own = [family for family in sorted(set(leader)) if not large[family]]
        own.sort(key=lambda f: (not learned[f], not isinstance(network.cpds[f], TabularCPD)))
        for family in own:
            cpd = network.cpds[family]
            offsets[family], end = end, end + cpd.n_cells
            if not learned[family]:
                constant.append(np.real(cpd.to_factor(max_cells=cpd.n_cells).values))
                continue
            constant.append(np.zeros(cpd.n_cells))
            found = _parameters_of(cpd, prior)
            if isinstance(cpd, NoisyMaximum | NoisyMinimum):
                first = int(offsets[family])
                noisy.append(NoisyBlock(cpd=cpd, family=family, first_cell=first, first=n_values))
            n_values += sum(part.size for part, _ in found)
            parts += found
            for part, _ in found:
                columns.append(np.tile(n_columns + np.arange(part[0].size), len(part)))
                n_columns += part[0].size
        for family, cpd in enumerate(network.cpds):
            offsets[family] = offsets[leader[family]]
            step = 1
            for v in () if large[family] else reversed(cpd.scope):
                strides[family, number[v.name]] = step
                step *= v.n_states
        return cls(
            network=network,
            scopes=tuple(tuple(number[v.name] for v in cpd.scope) for cpd in network.cpds),
            offsets=offsets,
            strides=strides,
            free=np.array(learned, dtype=np.bool_),
            large=np.array(large, dtype=np.bool_),
            n_free_cells=noisy[0].place.start if noisy else n_values,
            columns=np.concatenate([np.zeros(0, dtype=np.intp), *columns]),
            uniform=_joined([np.full(part.shape, 1 / len(part)) for part, _ in parts]),
            pseudo_counts=_joined([counts for _, counts in parts]),
            own=_joined([part for part, _ in parts]),
            constant=_joined(constant),
            noisy=tuple(noisy),
        )

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.constant)

    @property
    def n_values(self) -> int:
        """The number of parameters."""
        return len(self.columns)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: those of each distribution but one."""
        zeros = int((self.own[self.n_free_cells :] == 0).sum())
        return self.n_values - zeros - int(self.columns.max(initial=-1) + 1)

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
            start = self.own.copy()
            start[:n] = (1 - uniform) * start[:n] + uniform * self.uniform[:n]
        else:
            drawn = rng.standard_exponential(self.n_values)
            drawn[n:][self.own[n:] == 0] = 0.0
            start = self.normalized(drawn)
        start[:n] += counts[:n]
        start[:n] = self.normalized(start)[:n]
        return start

    def normalized(self, counts: Floats, otherwise: Floats | None = None) -> Floats:
        """Return the distributions in proportion to counts.

        Where all counts are zero, they are uniform, or those given.
        """
        otherwise = self.uniform if otherwise is None else otherwise
        sums = np.bincount(self.columns, weights=counts)[self.columns]
        share: Floats = np.divide(counts, sums, out=otherwise.copy(), where=sums > 0)
        return share

    def cells(self, parameters: Floats) -> Floats:
        """Return all tables."""
        cells = self.constant.copy()
        cells[: self.n_free_cells] = parameters[: self.n_free_cells]
        for block in self.noisy:
            cells[block.cells] = block.table(parameters[block.place]).reshape(-1)
        return cells

    def expected(self, parameters: Floats, counts: Floats) -> Floats:
        """Return how often each parameter is expected, from counts ``(cells,)``, plus its prior."""
        expected = self.pseudo_counts.copy()
        expected[: self.n_free_cells] += counts[: self.n_free_cells]
        for block in self.noisy:
            expected[block.place] += block.expected(parameters[block.place], counts[block.cells])
        return expected

    def maximize(self, parameters: Floats, counts: Floats) -> Floats:
        """Return the parameters after an M-step with expected counts ``(cells,)``."""
        better = np.append(self.uniform[: self.n_free_cells], parameters[self.n_free_cells :])
        otherwise = better.copy()
        for _ in range(_ROUNDS if self.noisy else 1):
            better = self.normalized(self.expected(better, counts), otherwise)
            otherwise[self.n_free_cells :] = better[self.n_free_cells :]
        return better

    def log_prior(self, parameters: Floats) -> float:
        """Return Σ α log θ over all parameters with a pseudo-count α > 0."""
        some = self.pseudo_counts > 0
        with np.errstate(divide="ignore"):
            return float(self.pseudo_counts[some] @ np.log(parameters[some]))

    def within(self, numbers: Floats, known: Floats) -> Floats:
        """Return valid parameters near some numbers; parameters of zero stay zero."""
        # No step of EM leaves a probability of zero, so that an extrapolation must not reach it.
        positive = np.where(known > 0, np.where(numbers > 0, numbers, known * 0.5), 0.0)
        return self.normalized(positive)

    def network_of(self, parameters: Floats) -> Network:
        """Return the network with some parameters; other distributions are the same objects."""
        cells = self.cells(parameters)
        learned: dict[int, CPD] = {
            family: self._tabular(cells, family) for family in np.flatnonzero(self.free).tolist()
        }
        for block in self.noisy:
            learned[block.family] = block.cpd_of(parameters[block.place])
        return Network(tuple(learned.get(f, cpd) for f, cpd in enumerate(self.network.cpds)))

    def expanded(self, cells: Floats) -> Network:
        """Return a network of the tables; large families stay as they are."""
        cpds = enumerate(self.network.cpds)
        return Network(tuple(c if self.large[f] else self._tabular(cells, f) for f, c in cpds))

    def _tabular(self, cells: Floats, family: int) -> TabularCPD:
        cpd = self.network.cpds[family]
        return TabularCPD(cpd.variable, cpd.parents, self.table(cells, family))

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


def _joined(parts: Iterable[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *[part.reshape(-1) for part in parts]])


def _parameters_of(cpd: CPD, prior: Prior) -> list[tuple[Floats, Floats]]:
    """Return the table, or the leak and the links, with their pseudo-counts."""
    if isinstance(cpd, TabularCPD):
        return [(cpd.values, checked_counts(prior, cpd.variable, cpd.parents))]
    assert isinstance(cpd, NoisyMaximum | NoisyMinimum)
    TooLargeError.check(
        f"expected at most {MOST_NOISY_CELLS:,} cells in the expanded table of a noisy node that is"
        f" learned, got {cpd.n_cells:,} for {cpd.variable.name}; name it in fixed to keep its"
        " parameters",
        needed=cpd.n_cells,
        budget=MOST_NOISY_CELLS,
    )
    parts = []
    for part, parents in zip(cpd.contributions, ((), *zip(cpd.parents)), strict=True):
        counts = checked_counts(prior, cpd.variable, parents).reshape(part.shape)
        parts.append((part, np.where(part > 0, counts, 0.0)))
    return parts
