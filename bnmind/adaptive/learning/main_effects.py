r"""M-steps of models with main effects, and of noisy-and and noisy-or.

Parameters under linear inequalities: the closest point, and the way to the boundary.

==================  ====================================================================
symbol              name here
==================  ====================================================================
G x ≥ h             ``rows``, ``least``
min \|x\|, G x ≥ h    least distance programming (LDP), by nonnegative least squares
==================  ====================================================================

Newton's method for response probabilities with main effects on the scale of a link.

Maximizes the expected log-likelihood of each problem over its coefficients β,

.. math:: \sum_c y_c \ln p(η_c) + w_c \ln(1 - p(η_c)), \quad η = X β, \quad G β ≥ h.

It is concave in β for all links here, so the maximum is unique up to directions in which it is
flat. A step goes to the maximum of the quadratic approximation within the inequalities, and is
halved until it does not lower the objective. All problems take the steps together; those whose
plain step would leave the polytope get a quadratic program each.

==================  ====================================================================
symbol              name here
==================  ====================================================================
X                   ``design``, ``(cells, coefficients)``
y, w                ``right``, ``wrong``, ``(problems, cells)``: expected numbers
G β ≥ h             ``polytope``
==================  ====================================================================

Learning items with main effects: A-CDM, LLM, RRUM, leaky noisy-or, NIDA and NIDO.

`EffectsBlock` holds items with parameters of their own, as many for each item, and learns all of
them together. `SharedBlock` holds items that share the parameters of the skills. Both maximize the
expected log-likelihood by `link_newton.ascended`, under these inequalities: no effect is below 0
if more skill must not hurt, each chance of a response is at least `ItemRule.least`, and the lowest
and the highest configuration keep the bounds of guess and slip.

Learning noisy-and and noisy-or items.

Whether skill k worked is hidden, so a step of EM contains further steps of EM. Let f_k be the
chance that a link works (and) or fails (or), ℓ the leak, and q = ℓ Π_k f_k the chance of the
response that requires all of these:

=====================================  ===========================================
symbol                                 name here
=====================================  ===========================================
f_k                                    ``links``: works (and), or fails (or)
ℓ                                      ``leak``: the ceiling (and), 1 − floor (or)
P(link k | not all) =                  :math:`(f_k - q) / (1 - q)`
=====================================  ===========================================

Each inner step raises the expected log-likelihood, and a few are enough for generalized EM.

References
----------
C. Lawson and R. Hanson, *Solving Least Squares Problems*, 1974, chapter 23 (LDP).

P. McCullagh and J. Nelder, *Generalized Linear Models*, 1989, section 2.5; J. Nocedal and S.
Wright, *Numerical Optimization*, 2006, chapter 18.

J. de la Torre, "The generalized DINA model framework", Psychometrika 2011.

J. Vomlel, "Noisy-or classifier", Int. J. Intell. Syst. 2006; A. Dempster, N. Laird and
D. Rubin, "Maximum likelihood from incomplete data via the EM algorithm", J. R. Stat. Soc.
B 1977 (generalized EM).
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, sealed
from bnmind.adaptive.learning.blocks import (
    SLACK,
    ConvexBlock,
    ItemRule,
    Polytope,
    RuleBlock,
    ascended,
    beta_counts,
    log_beta,
    softened,
    two_chances,
)
from bnmind.adaptive.learning.options import Priors
from bnmind.adaptive.response_models.additive import LinkFunction, MainEffects, Nida, sufficient
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.gates import NoisySkills
from bnmind.information import Floats
from bnmind.pgm import NoisyMinimum, Variable

_LEAST = 1e-10
"""The least distance of chances from 0 and 1, where links are infinite."""

_WIDE = 60.0
"""No coefficient is larger."""


def _model(rule: ItemRule) -> MainEffects:
    assert isinstance(rule.model, MainEffects)
    return rule.model


def _cells(n_skills: int) -> NDArray[np.bool_]:
    """Return whether each skill is sufficient, ``(skills, 2 ** skills)``, the last fastest."""
    return np.array(list(product((False, True), repeat=n_skills))).T


def _groups(rule: ItemRule) -> NDArray[np.intp]:
    """Return the cell of each configuration of an item's parents."""
    has = sufficient(_model(rule).required, Variable.of_integers(rule.name, (0, 1)), rule.parents)
    weights = 2 ** np.arange(len(has))[::-1]
    return (weights @ has).astype(np.intp)


def _on_link(link: LinkFunction, low: float, high: float) -> tuple[float, float]:
    """Return bounds of a chance on the scale of a link."""
    scale = link.of(np.clip(np.array([low, high]), _LEAST, 1 - _LEAST))
    return float(scale[0]), float(scale[1])


def _inequalities(
    rule: ItemRule, link: LinkFunction, cells: Floats
) -> tuple[list[Floats], list[float]]:
    """Return the inequalities of an item's chances: rows, and the least product with each.

    Parameters
    ----------
    rule
        The item.
    link
        The link function.
    cells
        ``(cells, coefficients)``: the predictor of each cell, the lowest first.
    """
    rows: list[Floats] = []
    least: list[float] = []
    inside = rule.least, 1 - rule.least
    guess, slip = rule.guess, rule.slip
    bounds = [inside] * len(cells)
    bounds[0], bounds[-1] = guess, (1 - slip[1], 1 - slip[0])
    for cell, (low, high) in zip(cells, bounds, strict=True):
        lowest, highest = _on_link(link, low, high)
        rows += [cell, -cell]
        least += [lowest, -highest]
    return rows, least


@dataclass(frozen=True, eq=False)
class _LinkBlock(ConvexBlock, Sealed):
    """A base of blocks with a link function; parameters are those of all problems in a row."""

    rules: tuple[ItemRule, ...]
    priors: Priors
    monotone: bool = True

    @cached_property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """For each item the cell of each configuration of its parents."""
        return tuple(sealed(_groups(rule)) for rule in self.rules)

    @property
    @abstractmethod
    def design(self) -> Floats:
        """``(cells, coefficients)``."""

    @property
    @abstractmethod
    def polytope(self) -> Polytope:
        """The valid coefficients of each problem."""

    @property
    @abstractmethod
    def pseudo(self) -> tuple[Floats, Floats, Floats]:
        """The design, right and wrong responses of the priors, a row each."""

    @property
    def _link(self) -> LinkFunction:
        return _model(self.rules[0]).link

    @property
    def _rises(self) -> bool:
        return self.monotone or _model(self.rules[0]).always_rises

    @property
    def names(self) -> tuple[str, ...]:
        """The items."""
        return tuple(rule.name for rule in self.rules)

    @abstractmethod
    def _arranged(self, counts: Floats) -> Floats:
        """Return counts of the items' cells by problem, ``(problems, cells)``."""

    @abstractmethod
    def _placed(self, chances: Floats) -> Floats:
        """Return chances of the problems by item, ``(items, groups)``."""

    def _points(self, values: Floats) -> Floats:
        return values.reshape(-1, self.design.shape[1])

    def between(self, known: Floats, values: Floats) -> Floats:
        """Return the farthest valid parameters from known ones on the way to others."""
        start, steps = self._points(known), self._points(values - known)
        return (start + self.polytope.reach(start, steps)[:, None] * steps).reshape(-1)

    def _inside(self, points: Floats) -> Floats:
        """Return the closest valid coefficients."""
        return self.polytope.inside(points).reshape(-1)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the chances of wrong and right responses in each cell."""
        predictor = self._points(values) @ self.design.T
        right = self._placed(np.clip(self._link.chance(predictor), 0.0, 1.0))
        return np.stack([1 - right, right], axis=-1)

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the coefficients with the largest expected log-likelihood."""
        right, wrong = self._arranged(counts[..., 1]), self._arranged(counts[..., 0])
        design, more_right, more_wrong = self.pseudo
        if more_right.any() or more_wrong.any():
            both = np.ones((len(right), 1))
            right = np.concatenate([right, both * more_right], axis=1)
            wrong = np.concatenate([wrong, both * more_wrong], axis=1)
            design = np.concatenate([self.design, design])
        else:
            design = self.design
        points = self._points(values)
        return ascended(self._link, design, self.polytope, points, (right, wrong)).reshape(-1)

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the beta densities, up to a constant."""
        design, right, wrong = self.pseudo
        if not (right.any() or wrong.any()):
            return 0.0
        return float(self._link.log_likelihood(self._points(values) @ design.T, right, wrong).sum())

    def valid(self, values: Floats) -> bool:
        """Return whether the coefficients satisfy the inequalities."""
        return bool(self.polytope.holds(self._points(values), tolerance=5e-10).all())


@dataclass(frozen=True, eq=False)
class EffectsBlock(_LinkBlock):
    """Items with an intercept and effects of their own: `Acdm`, `Llm`, `Rrum`, `LeakyOr`.

    Parameters
    ----------
    rules
        The items, of one kind and with as many parents each.
    priors
        Beta distributions of the lowest and the highest configuration.
    monotone
        Whether no effect may be below 0.
    """

    @cached_property
    def design(self) -> Floats:
        """``(cells, coefficients)``."""
        return sealed(_model(self.rules[0]).design(_cells(len(self.rules[0].parents))))

    @cached_property
    def polytope(self) -> Polytope:
        """The valid coefficients of each item."""
        n = len(self.rules[0].parents)
        effects = np.eye(n + 1)[1:] if self._rises else np.zeros((0, n + 1))
        # In order, the chances between are within the bounds of the lowest and the highest.
        cells = self.design[[0, -1]] if self._rises else self.design
        rows: list[Floats] = []
        least = []
        for rule in self.rules:
            rows, bounds = _inequalities(rule, self._link, cells)
            least.append([*bounds, *[0.0] * len(effects)])
        return Polytope(np.concatenate([rows, effects]), np.array(least))

    @cached_property
    def pseudo(self) -> tuple[Floats, Floats, Floats]:
        """The design, right and wrong responses of the priors, a row each."""
        right, both = beta_counts(self.priors)
        return sealed(self.design[[0, -1]]), sealed(right), sealed(both - right)

    @property
    def shape(self) -> tuple[int, int]:
        """A group for each set of sufficient skills; two responses."""
        return len(self.design), 2

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The intercept and the effects of each item, on the scale of the link."""
        return tuple(
            (rule.name, name)
            for rule in self.rules
            for name in ("intercept", *(f"effect of {v.name}" for v in rule.parents))
        )

    @property
    def limits(self) -> Floats:
        """The bounds of each coefficient; nan for one that a fixed guess or slip determines."""
        limits = np.empty((len(self.rules), self.design.shape[1], 2))
        limits[..., 0], limits[..., 1] = -_WIDE, _WIDE
        if self._rises:
            limits[:, 1:, 0] = 0.0
        for row, rule in zip(limits, self.rules, strict=True):
            row[0] = _on_link(self._link, rule.guess[0], 1 - rule.slip[0])
            if rule.guess[0] >= rule.guess[1]:
                row[0] = np.nan
            if rule.slip[0] >= rule.slip[1]:
                row[-1] = np.nan
        return limits.reshape(-1, 2)

    def _arranged(self, counts: Floats) -> Floats:
        return counts

    def _placed(self, chances: Floats) -> Floats:
        return chances

    def start(self) -> Floats:
        """Return the current coefficients of the items."""
        return self._inside(np.array([_model(rule).coefficients for rule in self.rules]))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return coefficients between random guesses and slips, with random shares."""
        n, n_items = self.design.shape[1] - 1, len(self.rules)
        low, high = rng.uniform(0.05, 0.45, n_items), rng.uniform(0.55, 0.95, n_items)
        intercepts = self._link.of(low)
        rise = self._link.of(high) - intercepts
        shares = rng.dirichlet(np.full(n, 2.0), n_items)
        return self._inside(np.column_stack([intercepts, rise[:, None] * shares]))

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response models."""
        points = self._points(values)
        return tuple(
            _model(rule).with_coefficients(point)
            for rule, point in zip(self.rules, points, strict=True)
        )


@dataclass(frozen=True, eq=False)
class SharedBlock(_LinkBlock):
    """Items that share two parameters of each skill: `Nida` and `Nido`.

    Parameters
    ----------
    rules
        The items, of one kind. Skills are the same if name and required level are.
    priors
        Beta distributions of the guesses and slips of `Nida`; not for `Nido`.
    monotone
        Whether no effect may be below 0; for `Nida` always.
    """

    @cached_property
    def skills(self) -> tuple[tuple[str, int], ...]:
        """The name and the required level of each skill."""
        return tuple(dict.fromkeys(skill for rule in self.rules for skill in _needs(rule)))

    @cached_property
    def columns(self) -> tuple[NDArray[np.intp], ...]:
        """The coefficients of each item among those of all skills."""
        n = len(self.skills)
        places = [[self.skills.index(skill) for skill in _needs(rule)] for rule in self.rules]
        columns = (np.array([*row, *(n + k for k in row)], dtype=np.intp) for row in places)
        return tuple(map(sealed, columns))

    @cached_property
    def _designs(self) -> list[Floats]:
        """The design of each item, with the coefficients of all skills."""
        designs = []
        for rule, columns in zip(self.rules, self.columns, strict=True):
            local = _model(rule).design(_cells(len(columns) // 2))
            designs.append(np.zeros((len(local), 2 * len(self.skills))))
            designs[-1][:, columns] = local
        return designs

    @cached_property
    def design(self) -> Floats:
        """``(cells of all items, coefficients)``."""
        return sealed(np.concatenate(self._designs))

    @cached_property
    def pseudo(self) -> tuple[Floats, Floats, Floats]:
        """The design, right and wrong responses of the priors, a row each."""
        n = len(self.skills)
        if not isinstance(_model(self.rules[0]), Nida):
            return sealed(np.zeros((0, 2 * n))), sealed(np.zeros(0)), sealed(np.zeros(0))
        # The guess and one minus the slip of each skill, as cells of their own.
        eye = np.eye(2 * n)
        right, both = beta_counts(self.priors)
        cells = np.concatenate([eye[:n], eye[:n] + eye[n:]])
        return sealed(cells), sealed(np.repeat(right, n)), sealed(np.repeat(both - right, n))

    @cached_property
    def polytope(self) -> Polytope:
        """The valid coefficients."""
        rows: list[Floats] = []
        least: list[float] = []
        for rule, design in zip(self.rules, self._designs, strict=True):
            ends = design[[0, -1]] if self._rises else design
            more_rows, more_least = _inequalities(rule, self._link, ends)
            rows += more_rows
            least += more_least
        n = len(self.skills)
        if self._rises:
            rows += list(np.eye(2 * n)[n:])
            least += [0.0] * n
        if len(own := self.pseudo[0]):
            lowest, highest = _on_link(self._link, *_own_bounds(self.rules))
            rows += [*own, *-own]
            least += [lowest] * 2 * n + [-highest] * 2 * n
        return Polytope(np.array(rows), np.array([least]))

    @property
    def _used(self) -> NDArray[np.bool_]:
        """``(items, groups)``: whether a group is one of the item's; others have no examinees."""
        sizes = np.array([2 ** len(rule.parents) for rule in self.rules])
        return np.arange(sizes.max()) < sizes[:, None]

    @property
    def shape(self) -> tuple[int, int]:
        """The largest number of groups of an item; two responses."""
        return int(self._used.shape[1]), 2

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Intercept and effect of each skill, on the scale of the link, at the first item."""
        first = {
            skill: rule.name for rule in reversed(self.rules) for skill in reversed(_needs(rule))
        }
        return tuple(
            (first[skill], f"{what} of {skill[0]} in all items")
            for what in ("intercept", "effect")
            for skill in self.skills
        )

    @property
    def limits(self) -> Floats:
        """Wide bounds, and 0 for effects that must not be below it."""
        limits = np.tile([-_WIDE, _WIDE], (2 * len(self.skills), 1))
        if self._rises:
            limits[len(self.skills) :, 0] = 0.0
        return limits

    def _arranged(self, counts: Floats) -> Floats:
        return counts[self._used][None]

    def _placed(self, chances: Floats) -> Floats:
        table = np.full(self._used.shape, 0.5)
        table[self._used] = chances[0]
        return table

    def start(self) -> Floats:
        """Return the means of the current parameters of the items."""
        total, number = np.zeros((2, 2 * len(self.skills)))
        for rule, place in zip(self.rules, self.columns, strict=True):
            total[place] += _model(rule).coefficients
            number[place] += 1
        return self._inside((total / number)[None])

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return coefficients between random guesses and slips of the skills."""
        n = len(self.skills)
        low, high = self._link.of(rng.uniform([[0.05], [0.55]], [[0.45], [0.95]], (2, n)))
        return self._inside(np.concatenate([low, high - low])[None])

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response models."""
        return tuple(
            _model(rule).with_coefficients(values[place])
            for rule, place in zip(self.rules, self.columns, strict=True)
        )


def _needs(rule: ItemRule) -> list[tuple[str, int]]:
    """Return the name and the required level of each skill of an item."""
    levels: Sequence[int] = _model(rule).required or (1,) * len(rule.parents)
    return [(v.name, level) for v, level in zip(rule.parents, levels, strict=True)]


def _own_bounds(rules: Sequence[ItemRule]) -> tuple[float, float]:
    """Return the bounds of the guess and of one minus the slip of a skill."""
    least = min(rule.least for rule in rules)
    return least, 1 - least


_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class NoisyBlock(RuleBlock):
    """An item with a `NoisyAnd` or `NoisyOr` model.

    A ceiling below 1 or a floor above 0 is learned too. One guess and one slip for all skills
    stay shared; otherwise each skill has its own.

    Parameters
    ----------
    rule
        The item.
    priors
        Beta distributions of guesses and slips.
    """

    priors: Priors

    @cached_property
    def has(self) -> NDArray[np.bool_]:
        """``(parents, configurations)``: whether the required level is reached."""
        sizes = [v.n_states for v in self.rule.parents]
        levels = np.indices(tuple(sizes)).reshape(len(sizes), -1)
        needed = self._model.required
        required = np.ones(len(sizes), dtype=int) if needed is None else np.array(needed)
        return sealed(levels >= required[:, None])

    @property
    def _model(self) -> NoisySkills:
        assert isinstance(self.rule.model, NoisySkills)
        return self.rule.model

    @property
    def _is_and(self) -> bool:
        return self._model.combination is NoisyMinimum

    @property
    def _shared(self) -> bool:
        return not np.ndim(self._model.guess) and not np.ndim(self._model.slip)

    @property
    def _n_pairs(self) -> int:
        return 1 if self._shared else len(self.rule.parents)

    @property
    def _leak(self) -> float:
        right = self._model.leak[1]
        return right if self._is_and else 1 - right

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Guesses, slips, and the ceiling or the floor."""
        of = [""] if self._shared else [f" of {v.name}" for v in self.rule.parents]
        names = [f"guess{skill}" for skill in of] + [f"slip{skill}" for skill in of]
        if self._leak < 1:
            names.append(self._model.leak[0])
        return tuple((self.rule.name, what) for what in names)

    @property
    def limits(self) -> Floats:
        """The bounds of guesses, slips, and the ceiling or the floor."""
        least = self.rule.least
        bounds = [self.rule.guess] * self._n_pairs + [self.rule.slip] * self._n_pairs
        return np.array(bounds + ([(least, 1 - least)] if self._leak < 1 else []))

    def start(self) -> Floats:
        """Return the current parameters of the model."""
        n = self._n_pairs
        pairs = [np.broadcast_to(x, (n,)) for x in (self._model.guess, self._model.slip)]
        leak = [self._leak if self._is_and else 1 - self._leak] if self._leak < 1 else []
        return self._within(softened(np.concatenate([*pairs, leak])))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return guesses and slips between 0.05 and 0.45."""
        values = rng.uniform(0.05, 0.45, 2 * self._n_pairs)
        if self._leak < 1:
            edge = rng.uniform(0.05, 0.3)
            values = np.append(values, 1 - edge if self._is_and else edge)
        return self._within(values)

    def _within(self, values: Floats) -> Floats:
        return np.clip(values, self.limits[:, 0], self.limits[:, 1])

    def _links(self, values: Floats) -> tuple[Floats, float]:
        """Return the chances of the links, ``(parents, configurations)``, and the leak."""
        n = self._n_pairs
        guess, slip = values[:n, None], values[n : 2 * n, None]
        works = np.where(self.has, 1 - slip, guess)
        leak = 1.0
        if self._leak < 1:
            leak = float(values[-1] if self._is_and else 1 - values[-1])
        return (works if self._is_and else 1 - works), leak

    def response_parameters(self, values: Floats) -> Floats:
        """Return the chances of wrong and right responses in each configuration."""
        links, leak = self._links(values)
        asked = leak * links.prod(axis=0)
        pair = [1 - asked, asked] if self._is_and else [asked, 1 - asked]
        return np.stack(pair, axis=-1)[None]

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the parameters after a few steps of EM over the links."""
        asked = counts[0][:, 1 if self._is_and else 0]
        total = counts[0].sum(axis=1)
        for _ in range(_ROUNDS):
            values = self._step(values, asked, total)
        return values

    def _step(self, values: Floats, asked: Floats, total: Floats) -> Floats:
        links, leak = self._links(values)
        q = leak * links.prod(axis=0)
        other = np.where(q < 1, (total - asked) / np.where(q < 1, 1 - q, 1), 0.0)
        as_asked = asked + other * (links - q)
        works = as_asked if self._is_and else total - as_asked
        right = np.stack([(works * ~self.has).sum(axis=1), (works * self.has).sum(axis=1)], axis=1)
        everyone = np.stack([(total * ~self.has).sum(axis=1), (total * self.has).sum(axis=1)], 1)
        if self._shared:
            right, everyone = right.sum(axis=0)[None], everyone.sum(axis=0)[None]
        more_right, more = beta_counts(self.priors)
        n = self._n_pairs
        before = np.stack([values[:n], 1 - values[n : 2 * n]], axis=1)
        limits = np.stack([self.limits[:n], 1 - self.limits[n : 2 * n, ::-1]], axis=1)
        chance = two_chances(right + more_right, everyone + more, before, limits, monotone=True)
        updated = np.concatenate([chance[:, 0], 1 - chance[:, 1]])
        if self._leak < 1:
            leaks = float((asked + other * (leak - q)).sum() / max(total.sum(), 1e-300))
            updated = np.append(updated, leaks if self._is_and else 1 - leaks)
        return self._within(updated)

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the beta densities."""
        n, limits = self._n_pairs, self.limits
        return log_beta(values[:n], self.priors.guess, limits[:n]) + log_beta(
            values[n : 2 * n], self.priors.slip, limits[n : 2 * n]
        )

    def valid(self, values: Floats) -> bool:
        """Return whether no guess is above one minus the slip."""
        n = self._n_pairs
        return bool(np.all(values[:n] + values[n : 2 * n] <= 1 + SLACK))

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model."""
        n = self._n_pairs
        guess, slip = values[:n].tolist(), values[n : 2 * n].tolist()
        changed: dict[str, Any] = {
            "guess": guess[0] if self._shared else tuple(guess),
            "slip": slip[0] if self._shared else tuple(slip),
        }
        if self._leak < 1:
            changed[self._model.leak[0]] = float(values[-1])
        return (dataclasses.replace(self._model, **changed),)
