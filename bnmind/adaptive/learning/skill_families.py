"""Distributions of the skills in learning, and the least chance that they may have.

Learned tables without entries near 0 and 1.

Rows of the skills' tables with a floor
---------------------------------------
The maximum of Σ_k n_k log p_k over distributions p with p_k ≥ ε sets the entries below ε to ε, and
scales the others (the conditions of Karush, Kuhn and Tucker); this repeats until none is below.

Learning the distribution of the skills as families of tables.

A saturated distribution is one family: the distribution of the profiles. Otherwise each hidden
variable and its parents are a family. Initial probabilities of zero stay zero and are not
parameters, so a hierarchy stays a hierarchy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.adaptive.formulas import LOGIT, ability_values, binary, logistic
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.skill_distributions import AbilityCPD, LogisticCPD, table_of_steps
from bnmind.adaptive.learning.blocks import Priors
from bnmind.adaptive.learning.forms import Form, Polytope, ascended
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import CPD, TabularCPD, Variable


def bounded_rows(table: Floats, least: float, allowed: NDArray[np.bool_]) -> Floats:
    """Return distributions along the first axis with each allowed entry at least ``least``.

    Parameters
    ----------
    table
        Distributions along the first axis.
    least
        The least entry. Distributions with too many entries for it do not change.
    allowed
        A mask of the same shape; other entries do not change, and should be zero.

    Examples
    --------
    >>> table = np.array([[0.0, 0.5], [0.05, 0.5], [0.95, 0.0]])
    >>> bounded_rows(table, 0.1, np.array([[1, 1], [1, 1], [1, 0]]) > 0).tolist()
    [[0.1, 0.5], [0.1, 0.5], [0.8, 0.0]]
    """
    low = allowed & (table < least)
    if not low.any():
        return table
    # A row with one allowed entry is certain, and one with too many has no room.
    n_allowed = allowed.sum(axis=0)
    low &= (n_allowed > 1) & (n_allowed * least < 1)
    if not low.any():
        return table
    for _ in range(len(table)):
        rest = np.where(low, 0.0, table)
        share = (1 - least * low.sum(axis=0)) / np.where(low.any(axis=0), rest.sum(axis=0), 1.0)
        bounded = np.where(low.any(axis=0), np.where(low, least, rest * share), table)
        more = allowed & ~low & (bounded < least) & low.any(axis=0)
        if not more.any():
            break
        low |= more
    return bounded


# --- Learning how skills depend on one ability: the families of the higher-order distribution -----
#
# ==================  ======================================================================
# symbol              name here
# ==================  ======================================================================
# θ_q                 ``points``
# λ_0k, λ_1k          the coefficients: all intercepts, then the slopes, or the one slope
# P(step k | θ)       σ(λ_0k + λ_1k θ), a step for each level of a skill but the first
# ==================  ======================================================================
#
# The M-step is a logistic regression of each step on the ability, weighted with the expected
# numbers of examinees.
#
# References
# ----------
# J. de la Torre and J. Douglas, "Higher-order latent trait models for cognitive diagnosis",
# Psychometrika 2004.

_STEEPEST = 10.0
_FARTHEST = 15.0
"""The largest slope, and the largest intercept."""


@dataclass(frozen=True, eq=False)
class LogisticFamilies:
    """The distributions of skills given the ability, with logistic curves.

    Parameters
    ----------
    cpds
        The distribution of each skill, by the number of its family.
    """

    cpds: Mapping[int, LogisticCPD]

    @cached_property
    def points(self) -> Floats:
        """The abilities of the grid."""
        return ability_values(next(iter(self.cpds.values())).parents[0])

    @cached_property
    def _steps(self) -> tuple[tuple[int, int], ...]:
        """The family and the level of each step."""
        return tuple(
            (family, level)
            for family, cpd in self.cpds.items()
            for level in range(1, cpd.variable.n_states)
        )

    @cached_property
    def _one_slope(self) -> bool:
        return all(cpd.one_slope for cpd in self.cpds.values())

    @property
    def n_parameters(self) -> int:
        """The number of intercepts and slopes."""
        return int(self._design.shape[1])

    @cached_property
    def _design(self) -> Floats:
        """``(steps × points, coefficients)``."""
        n = len(self._steps)
        intercepts = np.repeat(np.eye(n), len(self.points), axis=0)
        slopes = intercepts * np.tile(self.points, n)[:, None]
        if self._one_slope:
            slopes = slopes.sum(axis=1, keepdims=True)
        return np.concatenate([intercepts, slopes], axis=1)

    @cached_property
    def _form(self) -> Form:
        n, size = len(self._steps), self.n_parameters
        bounds = np.tile([0.0, _STEEPEST], (1, size, 1))
        bounds[:, :n] = -_FARTHEST, _FARTHEST
        return Form(binary(LOGIT), self._design[:, None], Polytope.of(bounds))

    def start(self) -> dict[int, Floats]:
        """Return the initial tables."""
        return self.settled({family: cpd.values for family, cpd in self.cpds.items()})

    def draw(self, rng: np.random.Generator) -> dict[int, Floats]:
        """Return tables of random curves."""
        n = len(self._steps)
        slopes = rng.uniform(0.5, 2.5, self.n_parameters - n)
        return self._tables(np.concatenate([rng.normal(0, 1, n), slopes]))

    def settled(self, tables: Mapping[int, Floats]) -> dict[int, Floats]:
        """Return the logistic curves that are closest to the tables."""
        return self._tables(self._coefficients(tables))

    def maximized(
        self, tables: Mapping[int, Floats], counts: Sequence[Floats]
    ) -> dict[int, Floats]:
        """Return the tables with the largest expected log-likelihood."""
        right = [counts[family][level:].sum(axis=0) for family, level in self._steps]
        wrong = [counts[family][level - 1] for family, level in self._steps]
        counts_of_steps = np.stack([np.concatenate(wrong), np.concatenate(right)], axis=-1)
        start = self._coefficients(tables)[None]
        return self._tables(ascended(self._form, start, counts_of_steps[None])[0])

    def _tables(self, coefficients: Floats) -> dict[int, Floats]:
        chances = logistic(self._design @ coefficients).reshape(-1, len(self.points))
        rows: dict[int, list[Floats]] = {}
        for (family, _), row in zip(self._steps, chances, strict=True):
            rows.setdefault(family, []).append(row)
        return {family: table_of_steps(np.array(steps)) for family, steps in rows.items()}

    def _coefficients(self, tables: Mapping[int, Floats]) -> Floats:
        """Return the coefficients of tables, by least squares weighted as in the likelihood."""
        tiny = 1e-15
        above = [tables[family][level:].sum(axis=0) for family, level in self._steps]
        below = [tables[family][level - 1] for family, level in self._steps]
        right = np.maximum(np.concatenate(above), tiny)
        wrong = np.maximum(np.concatenate(below), tiny)
        root = np.sqrt(right * wrong) / (right + wrong)
        odds = np.log(right) - np.log(wrong)
        found = np.linalg.lstsq(self._design * root[:, None], odds * root, rcond=None)[0]
        n = len(self._steps)
        intercepts = np.clip(found[:n], -_FARTHEST, _FARTHEST)
        return np.concatenate([intercepts, np.clip(found[n:], 0.0, _STEEPEST)])

    def scores(self, masses: Mapping[int, Floats], tables: Mapping[int, Floats]) -> Floats:
        """Return the gradient of each pattern's log-likelihood, ``(patterns, coefficients)``.

        Parameters
        ----------
        masses
            For each family the posterior of each pattern, ``(patterns, levels, points)``.
        tables
            The tables.
        """
        columns = []
        for family, level in self._steps:
            right = masses[family][:, level:].sum(axis=1)
            wrong = masses[family][:, level - 1]
            above = tables[family][level:].sum(axis=0)
            chance = above / (above + tables[family][level - 1])
            columns.append(right - chance * (right + wrong))
        scores: Floats = np.concatenate(columns, axis=1) @ self._design
        return scores


# --- ----------------------------------------------------------------------------------------------
# The distribution of an ability of which the standard deviation, or the mean too, is learned.
#
# ==================  ==============================================================
# symbol              name here
# ==================  ==============================================================
# w_q, θ_q            ``weights``: the initial distribution; ``points``
# μ                   the mean of the initial distribution
# w_q(λ, κ)           proportional to w_q exp(λ (θ_q − μ) − κ (θ_q − μ)²)
# n_q                 ``counts``: the expected number of examinees at each point
# ==================  ==============================================================
#
# If w is normal with standard deviation σ, w(λ, κ) is normal with 1/σ² + 2κ in place of 1/σ². The
# most likely λ and κ given the counts make the moments equal: the means of θ − μ and (θ − μ)² over
# w(λ, κ) are those over the counts. If only the deviation is learned, λ is 0, and the mean of a
# symmetric distribution stays.
#
# References
# ----------
# The Rasch and the partial credit model fix the slopes at 1 and learn the variance of the ability,
# as in the R packages mirt and TAM. With several groups the mean and the variance of each but the
# first are learned: R. Bock and M. Zimowski, "Multiple group IRT", in *Handbook of Modern Item
# Response Theory*, 1997.

_ROUNDS = 100
_UNSEEN = 1e-13
"""The change of the logarithm of the likelihood that its rounding errors hide."""


@dataclass(frozen=True, eq=False)
class AbilitySpread(Sealed):
    """The distributions that differ from the initial one in their spread, or in their mean too.

    Parameters
    ----------
    points
        The abilities, ``(points,)``.
    weights
        The initial distribution, ``(points,)``.
    moved
        Whether the mean is learned too.
    """

    points: Floats
    weights: Floats
    moved: bool = False

    @property
    def statistics(self) -> Floats:
        """The squared distances from the initial mean, after the distances if the mean is learned.

        ``(parameters, points)``.
        """
        away = self.points - self.weights @ self.points
        return np.array([away, away**2] if self.moved else [away**2])

    def most_likely(self, counts: Floats) -> Floats:
        """Return the distribution that makes the counts most likely, by Newton's method."""
        statistics, total = self.statistics, float(counts.sum())
        if not total > 0:
            return self.weights
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights)
        target = statistics @ counts / total
        natural = np.zeros(len(statistics))
        table, loss = _tilted(logs, natural @ statistics)
        for _ in range(_ROUNDS):
            mean = statistics @ table
            slope = target - mean
            apart = statistics - mean[:, None]
            step = np.linalg.lstsq((apart * table) @ apart.T, slope, rcond=1e-14)[0]
            old = loss - natural @ target
            last = float(slope @ step) <= _UNSEEN * (1 + abs(old))
            # The likelihood is concave: halve the step until it grows. The last step, which doubles
            # the digits, changes it by less than its rounding error.
            for _ in range(_ROUNDS):
                nearer = natural + step
                found, new = _tilted(logs, nearer @ statistics)
                if last or new - nearer @ target <= old:
                    break
                step = step / 2
            else:
                break
            natural, table, loss = nearer, found, new
            if last:
                break
        return table


def _tilted(logs: Floats, by: Floats) -> tuple[Floats, float]:
    """Return weights times exp(by), normalized, and the logarithm of their sum before that."""
    logs = logs + by
    top = float(logs.max())
    table = np.exp(logs - top)
    total = float(table.sum())
    result: Floats = table / total
    return result, top + float(np.log(total))


# --- Learning the distribution of the skills as families of tables --------------------------------
#
#


@dataclass(frozen=True, eq=False)
class SkillFamilies:
    """The distributions of a bank's hidden variables, as tables to be learned.

    Parameters
    ----------
    bank
        The item bank.
    fixed
        Names of variables whose distributions are fixed.
    priors
        A Dirichlet distribution of each distribution.
    together
        Whether a saturated distribution is one table over all profiles.
    scaled
        Names of abilities of which only the standard deviation is learned; see
        `ability_spread`.
    moved
        Names of abilities of which the mean and the standard deviation are learned.
    least
        The least entry of each learned table, but for those that are zero at the start.
    """

    bank: ItemBank
    fixed: Collection[str]
    priors: Priors
    _: KW_ONLY
    together: bool = True
    scaled: Collection[str] = ()
    moved: Collection[str] = ()
    least: float = 0.0

    @cached_property
    def saturated(self) -> bool:
        """Whether there is one family of all profiles."""
        names: list[str] = []
        for cpd in self.initial_cpds:
            if {v.name for v in cpd.parents} != set(names):
                return False
            if isinstance(cpd, AbilityCPD | LogisticCPD):
                return False
            names.append(cpd.variable.name)
        return self.together and not set(names) & {*self.fixed, *self.scaled, *self.moved}

    @cached_property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """The variables of each family, the child before its parents; or all variables."""
        if self.saturated:
            return (tuple(v.name for v in self.bank.hidden),)
        return tuple(tuple(v.name for v in cpd.scope) for cpd in self.initial_cpds)

    @cached_property
    def initial_cpds(self) -> tuple[CPD, ...]:
        """The initial distributions, parents before children."""
        return self.bank.hidden_network().cpds

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The hidden variables, in the order of the axes of a table of profiles."""
        return self.bank.hidden

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of states of each hidden variable."""
        return tuple(v.n_states for v in self.variables)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {v.name: axis for axis, v in enumerate(self.variables)}

    @cached_property
    def _axes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(self._place[name] for name in scope) for scope in self.scopes)

    @cached_property
    def _initial(self) -> tuple[Floats, ...]:
        tables = tuple(np.real(cpd.to_factor().values) for cpd in self.initial_cpds)
        if not self.saturated:
            return tables
        axes = [tuple(self._place[v.name] for v in cpd.scope) for cpd in self.initial_cpds]
        joint = _product(self.shape, axes, tables)
        return (joint.reshape(-1) / joint.sum(),)

    def _stays(self, family: int) -> bool:
        if self.saturated:
            return False
        of_ability = isinstance(self.initial_cpds[family], AbilityCPD)
        return of_ability or self.scopes[family][0] in self.fixed

    @cached_property
    def curves(self) -> LogisticFamilies | None:
        """The families with logistic curves of an ability, if there are any."""
        cpds = {
            number: cpd
            for number, cpd in enumerate(self.initial_cpds)
            if isinstance(cpd, LogisticCPD) and not self._stays(number)
        }
        return LogisticFamilies(cpds) if cpds else None

    def _is_curve(self, family: int) -> bool:
        return self.curves is not None and family in self.curves.cpds

    def _with_curves(
        self, tables: Sequence[Floats], curves: Mapping[int, Floats]
    ) -> tuple[Floats, ...]:
        return tuple(curves.get(number, table) for number, table in enumerate(tables))

    def start(self) -> tuple[Floats, ...]:
        """Return the tables of the bank."""
        if self.curves is None:
            return self.bounded(self._initial)
        return self._with_curves(self._initial, self.curves.start())

    def settled(self, tables: tuple[Floats, ...]) -> tuple[Floats, ...]:
        """Return tables that have their form: off 0 and 1, scaled, or of logistic curves."""
        spreads = [self.scale(number) for number in range(len(tables))]
        tables = tuple(
            table if spread is None else spread.most_likely(table)
            for table, spread in zip(tables, spreads, strict=True)
        )
        if self.curves is None:
            return self.bounded(tables)
        return self._with_curves(tables, self.curves.settled(dict(enumerate(tables))))

    def draw(self, rng: np.random.Generator) -> tuple[Floats, ...]:
        """Return random tables, uniformly distributed."""
        tables = []
        for number, table in enumerate(self._initial):
            if self._stays(number) or self._has_few_parameters(number):
                tables.append(table)
                continue
            drawn = rng.standard_exponential(table.shape) * (table > 0)
            tables.append(drawn / drawn.sum(axis=0))
        if self.curves is None:
            return self.bounded(tuple(tables))
        return self._with_curves(tables, self.curves.draw(rng))

    def bounded(self, tables: tuple[Floats, ...]) -> tuple[Floats, ...]:
        """Return tables with no learned entry below the least one; fixed tables do not change.

        The tables of a saturated distribution are those of each variable given the ones before
        it, and their product is the distribution of the profiles.
        """
        if not self.least:
            return tables
        if not self.saturated:
            return tuple(
                table if self._stays(number) else bounded_rows(table, self.least, initial > 0)
                for number, (table, initial) in enumerate(zip(tables, self._initial, strict=True))
            )
        if tables[0][self._initial[0] > 0].min() >= self.least:
            return tables  # so are the shares of larger sums
        rows = self._rows(tables[0])
        kept = [
            bounded_rows(row, self.least, allowed)
            for row, allowed in zip(rows, self._allowed, strict=True)
        ]
        if all(after is before for after, before in zip(kept, rows, strict=True)):
            return tables
        axes = [tuple(self._place[v.name] for v in cpd.scope) for cpd in self.initial_cpds]
        return (_product(self.shape, axes, tuple(kept)).reshape(-1),)

    @cached_property
    def _allowed(self) -> list[NDArray[np.bool_]]:
        """Masks of the rows' entries that are above zero at the start."""
        return [rows > 0 for rows in self._rows(self._initial[0])]

    def _rows(self, profiles: Floats) -> list[Floats]:
        """Return the tables of each variable given the ones before it, from the profiles."""
        joint = profiles.reshape(self.shape)
        tables = []
        for cpd in self.initial_cpds:
            axes = [self._place[v.name] for v in cpd.scope]
            ordered = sorted(axes)
            summed = joint.sum(axis=tuple(a for a in range(joint.ndim) if a not in axes))
            family = summed.transpose([ordered.index(a) for a in axes])
            above = family.sum(axis=0, keepdims=True)
            even = np.full(family.shape, 1 / len(family))
            # Rows of impossible configurations are arbitrary.
            tables.append(np.divide(family, above, out=even, where=above > 0))
        return tables

    def prior(self, tables: tuple[Floats, ...]) -> Floats:
        """Return the probability of each profile, ``(profiles,)``."""
        if self.saturated:
            return tables[0]
        return _product(self.shape, self._axes, tables).reshape(-1)

    def counts(self, profiles: Floats) -> tuple[Floats, ...]:
        """Return the expected counts of each family's table.

        Parameters
        ----------
        profiles
            ``(profiles,)``: the expected number of examinees with each profile.
        """
        if self.saturated:
            return (profiles,)
        table = profiles.reshape(self.shape)
        family_counts = []
        for axes in self._axes:
            ordered = sorted(axes)
            summed = table.sum(axis=tuple(a for a in range(table.ndim) if a not in axes))
            family_counts.append(summed.transpose([ordered.index(a) for a in axes]))
        return tuple(family_counts)

    def maximize(
        self, tables: tuple[Floats, ...], counts: tuple[Floats, ...]
    ) -> tuple[Floats, ...]:
        """Return the tables as shares of the counts; fixed tables do not change."""
        shares = []
        for number, (table, count) in enumerate(zip(tables, counts, strict=True)):
            if self._stays(number) or self._is_curve(number):
                shares.append(table)
                continue
            if (scale := self.scale(number)) is not None:
                shares.append(scale.most_likely(count))
                continue
            more = count + (self.priors.skills - 1) * (self._initial[number] > 0)
            sums = more.sum(axis=0, keepdims=True)
            shares.append(np.divide(more, sums, out=table.copy(), where=sums > 0))
        if self.curves is None:
            return self.bounded(tuple(shares))
        return self._with_curves(shares, self.curves.maximized(dict(enumerate(tables)), counts))

    def log_prior(self, tables: tuple[Floats, ...]) -> float:
        """Return the logarithm of the Dirichlet densities, up to a constant."""
        weight = self.priors.skills - 1
        if not weight:
            return 0.0
        with np.errstate(divide="ignore"):
            return weight * sum(
                float(np.log(table[initial > 0]).sum())
                for number, (table, initial) in enumerate(zip(tables, self._initial, strict=True))
                if not (self._stays(number) or self._has_few_parameters(number))
            )

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        of_tables = sum(
            int((np.count_nonzero(table, axis=0) - 1).sum())
            for number, table in enumerate(self._initial)
            if not (self._stays(number) or self._has_few_parameters(number))
        )
        of_tables += sum(len(spread.statistics) for spread in self._spreads.values())
        return of_tables + (0 if self.curves is None else self.curves.n_parameters)

    def _has_few_parameters(self, family: int) -> bool:
        """Return whether a family's table is made from fewer numbers."""
        return self._is_curve(family) or self.scale(family) is not None

    def scale(self, family: int) -> AbilitySpread | None:
        """Return the distributions of a scaled or moved ability; None for other families."""
        return None if self.saturated else self._spreads.get(self.scopes[family][0])

    @cached_property
    def _spreads(self) -> dict[str, AbilitySpread]:
        """The distributions of each scaled or moved ability.

        Raises
        ------
        InvalidModelError
            If such a variable has parents or its states are not numbers.
        """
        found, problems = {}, []
        for cpd in self.initial_cpds:
            name = cpd.variable.name
            if name not in (*self.scaled, *self.moved):
                continue
            if cpd.parents:
                problems.append(f"expected {name} without parents, as its deviation is learned")
                continue
            table = np.real(cpd.to_factor().values)
            moved = name in self.moved
            found[name] = AbilitySpread(ability_values(cpd.variable), table, moved)
        if problems:
            raise InvalidModelError(problems)
        return found

    def free(self, family: int) -> bool:
        """Return whether a family is learned."""
        return not self._stays(family)

    def cpds(self, tables: tuple[Floats, ...]) -> tuple[CPD, ...]:
        """Return the distributions of the hidden variables."""
        if not self.saturated:
            return tuple(
                cpd if self._stays(number) else _like(cpd, table)
                for number, (cpd, table) in enumerate(zip(self.initial_cpds, tables, strict=True))
            )
        return tuple(
            TabularCPD(cpd.variable, cpd.parents, rows)
            for cpd, rows in zip(self.initial_cpds, self._rows(tables[0]), strict=True)
        )


def _like(cpd: CPD, table: Floats) -> CPD:
    """Return a distribution of the same kind with another table."""
    if isinstance(cpd, LogisticCPD):
        return LogisticCPD(cpd.variable, cpd.parents, table, one_slope=cpd.one_slope)
    return TabularCPD(cpd.variable, cpd.parents, table)


def _product(
    shape: tuple[int, ...],
    axes: tuple[tuple[int, ...], ...] | list[tuple[int, ...]],
    tables: tuple[Floats, ...],
) -> Floats:
    """Return the product of tables, each over some of the axes."""
    joint = np.ones(shape)
    for places, table in zip(axes, tables, strict=True):
        order = sorted(range(len(places)), key=places.__getitem__)
        wide = [shape[a] if a in places else 1 for a in range(len(shape))]
        joint = joint * table.transpose(order).reshape(wide)
    return joint
