r"""Learning items with main effects: A-CDM, LLM, RRUM, leaky noisy-or, NIDA and NIDO.

`EffectsBlock` holds items with parameters of their own, as many for each item, and learns all of
them together. `SharedBlock` holds items that share the parameters of the skills. The inequalities:
no effect is below 0 if more skill must not hurt, each chance of a response is at least
`ItemRule.least`, and the lowest and the highest configuration keep the bounds of guess and slip.

Noisy-and and noisy-or
----------------------
Let f_k be the chance that skill k works (and) or fails (or), and ℓ the leak. The chance of the
response that requires all of these is q = ℓ Π_k f_k, so its logarithm is a sum:

=====================================  ===========================================
symbol                                 name here
=====================================  ===========================================
f_k                                    ``links``: works (and), or fails (or)
ℓ                                      ``leak``: the ceiling (and), 1 − floor (or)
=====================================  ===========================================

References
----------
J. de la Torre, "The generalized DINA model framework", Psychometrika 2011; J. Vomlel, "Noisy-or
classifier", Int. J. Intell. Syst. 2006.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._values import sealed
from bnmind.adaptive.learning.blocks import (
    FormBlock,
    ItemRule,
    beta_counts,
    softened,
    within,
)
from bnmind.adaptive.learning.forms import Form, Polytope
from bnmind.adaptive.response_models.additive import MainEffects, Nida, sufficient
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.gates import NoisySkills
from bnmind.adaptive.response_models.links import LOG, LinkFunction, binary
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
    assert isinstance(rule.model, MainEffects | NoisySkills)
    has = sufficient(rule.model.required, Variable.of_integers(rule.name, (0, 1)), rule.parents)
    weights = 2 ** np.arange(len(has))[::-1]
    return (weights @ has).astype(np.intp)


def _on_link(link: LinkFunction, bounds: ArrayLike) -> Floats:
    """Return bounds of chances on the scale of a link."""
    return link.of(np.clip(bounds, _LEAST, 1 - _LEAST))


def _inequalities(rule: ItemRule, link: LinkFunction, cells: Floats) -> tuple[Floats, Floats]:
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
    bounds = np.full((len(cells), 2), (rule.least, 1 - rule.least))
    bounds[0], bounds[-1] = rule.guess, (1 - rule.slip[1], 1 - rule.slip[0])
    low, high = _on_link(link, bounds).T
    return np.concatenate([cells, -cells]), np.concatenate([low, -high])


@dataclass(frozen=True, eq=False)
class _LinkBlock(FormBlock):
    """A base of blocks with a link function."""

    @cached_property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """For each item the cell of each configuration of its parents."""
        return tuple(sealed(_groups(rule)) for rule in self.rules)

    @property
    def shape(self) -> tuple[int, int]:
        """A group for each set of sufficient skills; two responses."""
        return len(self.design), 2

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

    @cached_property
    def _prior(self) -> tuple[Floats, Floats]:
        """The design and the counts of the priors, a row each; none if they are flat."""
        design, right, wrong = self.pseudo
        used = (right > 0) | (wrong > 0)
        return sealed(design[used]), sealed(np.stack([wrong, right], axis=-1)[used])

    @cached_property
    def form(self) -> Form:
        """The chances of all cells, and then those of the priors."""
        design = np.concatenate([self.design, self._prior[0]])
        return Form(binary(self._link), design[:, None], self.polytope)

    @property
    def _link(self) -> LinkFunction:
        return _model(self.rules[0]).link

    @property
    def _rises(self) -> bool:
        return self.monotone or _model(self.rules[0]).always_rises

    def _arranged(self, counts: Floats) -> Floats:
        """Return counts of the items' cells by problem, ``(problems, cells, responses)``."""
        return counts

    def _placed(self, chances: Floats) -> Floats:
        """Return chances of the problems by item, ``(items, groups, responses)``."""
        return chances

    def between(self, known: Floats, values: Floats) -> Floats:
        """Return the farthest valid parameters from known ones on the way to others."""
        start, steps = self.points(known), self.points(values - known)
        return self.values_of(start + self.polytope.reach(start, steps)[:, None] * steps)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the chances of wrong and right responses in each cell."""
        return self._placed(self.form.table(self.points(values))[:, : len(self.design)])

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the coefficients with the largest expected log-likelihood."""
        counts, more = self._arranged(counts), self._prior[1]
        more = np.broadcast_to(more, (len(counts), *more.shape))
        return super().maximize(values, np.concatenate([counts, more], axis=1))

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the beta densities, up to a constant."""
        chances = self.form.table(self.points(values))[:, len(self.design) :]
        return float((self._prior[1] * np.log(np.maximum(chances, 1e-300))).sum())


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
        parts = [_inequalities(rule, self._link, cells) for rule in self.rules]
        least = [np.append(bounds, np.zeros(len(effects))) for _, bounds in parts]
        return Polytope(np.concatenate([parts[0][0], effects]), np.array(least))

    @cached_property
    def pseudo(self) -> tuple[Floats, Floats, Floats]:
        """The design, right and wrong responses of the priors, a row each."""
        right, both = beta_counts(self.priors)
        return sealed(self.design[[0, -1]]), sealed(right), sealed(both - right)

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
            row[0] = _on_link(self._link, (rule.guess[0], 1 - rule.slip[0]))
            if rule.guess[0] >= rule.guess[1]:
                row[0] = np.nan
            if rule.slip[0] >= rule.slip[1]:
                row[-1] = np.nan
        return limits.reshape(-1, 2)

    def start(self) -> Floats:
        """Return the current coefficients of the items."""
        return self.inside(np.array([_model(rule).coefficients for rule in self.rules]))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return coefficients between random guesses and slips, with random shares."""
        n, n_items = self.design.shape[1] - 1, len(self.rules)
        low, high = rng.uniform(0.05, 0.45, n_items), rng.uniform(0.55, 0.95, n_items)
        intercepts = self._link.of(low)
        rise = self._link.of(high) - intercepts
        shares = rng.dirichlet(np.full(n, 2.0), n_items)
        return self.inside(np.column_stack([intercepts, rise[:, None] * shares]))

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response models."""
        points = self.points(values)
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
        n, parts = len(self.skills), []
        for rule, design in zip(self.rules, self._designs, strict=True):
            ends = design[[0, -1]] if self._rises else design
            parts.append(_inequalities(rule, self._link, ends))
        if self._rises:
            parts.append((np.eye(2 * n)[n:], np.zeros(n)))
        if len(own := self.pseudo[0]):
            least = min(rule.least for rule in self.rules)
            low, high = _on_link(self._link, (least, 1 - least))
            parts.append((np.concatenate([own, -own]), np.repeat([low, -high], 2 * n)))
        rows, bounds = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Polytope(rows, bounds[None])

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
        table = np.full((*self._used.shape, 2), 0.5)
        table[self._used] = chances[0]
        return table

    def start(self) -> Floats:
        """Return the means of the current parameters of the items."""
        total, number = np.zeros((2, 2 * len(self.skills)))
        for rule, place in zip(self.rules, self.columns, strict=True):
            total[place] += _model(rule).coefficients
            number[place] += 1
        return self.inside((total / number)[None])

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return coefficients between random guesses and slips of the skills."""
        n = len(self.skills)
        low, high = self._link.of(rng.uniform([[0.05], [0.55]], [[0.45], [0.95]], (2, n)))
        return self.inside(np.concatenate([low, high - low])[None])

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


def _noise(rule: ItemRule) -> NoisySkills:
    assert isinstance(rule.model, NoisySkills)
    return rule.model


class Noise(NamedTuple):
    """What noisy items that are learned together have in common."""

    is_and: bool
    """Whether all skills are needed."""
    n_skills: int
    shared: bool
    """Whether all skills share one guess and one slip."""
    has_leak: bool


def kind_of_noise(rule: ItemRule) -> Noise:
    """Return the kind of a noisy item."""
    model = _noise(rule)
    is_and = model.combination is NoisyMinimum
    shared = not np.ndim(model.guess) and not np.ndim(model.slip)
    return Noise(is_and, len(rule.parents), shared, model.leak[1] != float(is_and))


@dataclass(frozen=True, eq=False)
class NoisyBlock(_LinkBlock):
    """Items with a `NoisyAnd` or a `NoisyOr` model, of the same `kind_of_noise`.

    A ceiling below 1 or a floor above 0 is learned too. One guess and one slip for all skills
    stay shared; otherwise each skill has its own. The parameters of the form are the logarithms of
    f without the skills, of f with them, and of ℓ.

    Parameters
    ----------
    rules
        The items.
    priors
        Beta distributions of guesses and slips.
    """

    @cached_property
    def _kind(self) -> Noise:
        return kind_of_noise(self.rules[0])

    @property
    def _n_pairs(self) -> int:
        return 1 if self._kind.shared else self._kind.n_skills

    @property
    def _link(self) -> LinkFunction:
        return LOG

    @cached_property
    def design(self) -> Floats:
        """``(cells, parameters of the form)``."""
        has = _cells(self._kind.n_skills).T.astype(np.float64)
        each = [1 - has, has]
        if self._kind.shared:
            each = [part.sum(axis=1, keepdims=True) for part in each]
        return sealed(
            np.concatenate([*each, np.ones((len(has), int(self._kind.has_leak)))], axis=1)
        )

    @cached_property
    def polytope(self) -> Polytope:
        """The bounds, what a skill does not lower, and chances off 0 and 1 where bounds allow."""
        n, size = self._n_pairs, self.design.shape[1]
        ends = [self._turned(end.reshape(-1, size)) for end in self.limits.T]
        bounds = np.sort(np.log(np.maximum(np.stack(ends, axis=-1), _LEAST)), axis=-1)
        sign = 1 if self._kind.is_and else -1
        rises = sign * (np.eye(size)[n : 2 * n] - np.eye(size)[:n])
        off = np.log(np.maximum([[rule.least] for rule in self.rules], _LEAST))
        can = bounds[..., 1] @ self.design.T >= off
        rows = np.concatenate([rises, self.design])
        least = np.concatenate([np.zeros((len(bounds), n)), np.where(can, off, -np.inf)], axis=1)
        return Polytope.of(bounds, rows, least)

    @cached_property
    def pseudo(self) -> tuple[Floats, Floats, Floats]:
        """The links by themselves, as the priors see them work or fail."""
        n = self._n_pairs
        works, both = (np.repeat(count, n) for count in beta_counts(self.priors))
        asked = works if self._kind.is_and else both - works
        return np.eye(self.design.shape[1])[: 2 * n], asked, both - asked

    def _arranged(self, counts: Floats) -> Floats:
        return counts if self._kind.is_and else counts[..., ::-1]

    def _placed(self, chances: Floats) -> Floats:
        return self._arranged(chances)

    def _turned(self, values: Floats) -> Floats:
        """Return f and ℓ of guesses, slips and the edge, ``(…, parameters)``; or the reverse."""
        n = self._n_pairs
        of_or = (np.arange(values.shape[-1]) // n) % 2 == 0
        return np.where(of_or ^ self._kind.is_and, 1 - values, values)

    def points(self, values: Floats) -> Floats:
        """Return the parameters of the form."""
        rows = values.reshape(len(self.rules), -1)
        return np.log(np.maximum(self._turned(rows), _LEAST))

    def between(self, known: Floats, values: Floats) -> Floats:
        """Return valid parameters near others."""
        return self._near(within(values, known, self.limits))

    def _near(self, values: Floats) -> Floats:
        """Return valid parameters, the closest ones if these are not."""
        near = np.clip(values, *self.limits.T)
        return near if self.valid(near) else self.inside(self.points(near))

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Guesses, slips, and the ceiling or the floor."""
        found = []
        for rule in self.rules:
            of = [""] if self._kind.shared else [f" of {v.name}" for v in rule.parents]
            names = [f"{what}{skill}" for what in ("guess", "slip") for skill in of]
            names += [_noise(rule).leak[0]] * self._kind.has_leak
            found += [(rule.name, name) for name in names]
        return tuple(found)

    @cached_property
    def limits(self) -> Floats:
        """The bounds of guesses, slips, and the ceiling or the floor."""
        n = self._n_pairs
        rows = [
            [
                *[rule.guess] * n,
                *[rule.slip] * n,
                *[(rule.least, 1 - rule.least)] * self._kind.has_leak,
            ]
            for rule in self.rules
        ]
        return sealed(np.array(rows).reshape(-1, 2))

    def start(self) -> Floats:
        """Return the current parameters of the models."""
        numbers: list[Floats] = []
        for rule in self.rules:
            model = _noise(rule)
            numbers += [np.broadcast_to(x, (self._n_pairs,)) for x in (model.guess, model.slip)]
            numbers += [np.array([model.leak[1]])] * self._kind.has_leak
        return self._near(softened(np.concatenate(numbers)))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return guesses and slips between 0.05 and 0.45."""
        rows = []
        for _ in self.rules:
            rows.append(rng.uniform(0.05, 0.45, 2 * self._n_pairs))
            if self._kind.has_leak:
                edge = rng.uniform(0.05, 0.3)
                rows.append(np.array([1 - edge if self._kind.is_and else edge]))
        return self._near(np.concatenate(rows))

    def values_of(self, points: Floats) -> Floats:
        """Return guesses, slips and the edge, within their limits."""
        values = self._turned(np.exp(points)).reshape(-1)
        return np.clip(values, *self.limits.T)

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response models."""
        n, models = self._n_pairs, []
        for rule, row in zip(self.rules, values.reshape(len(self.rules), -1).tolist(), strict=True):
            guess, slip = tuple(row[:n]), tuple(row[n : 2 * n])
            changed: dict[str, Any] = {
                "guess": guess[0] if self._kind.shared else guess,
                "slip": slip[0] if self._kind.shared else slip,
            }
            if self._kind.has_leak:
                changed[_noise(rule).leak[0]] = row[-1]
            models.append(dataclasses.replace(_noise(rule), **changed))
        return tuple(models)
