"""Tests of the items of a G-DINA model: simpler models, and validation of the Q-matrix.

Tests of simpler models of the items of a G-DINA model: Wald and likelihood-ratio tests.

==================  ======================================================================
symbol              name here
==================  ======================================================================
f(P)                ``values``: P, logit P or ln P of the chances P of the configurations
Σ                   ``covariance`` of f(P), by the delta method
R                   ``constraints``: R f(P) = 0 if the simpler model is true
W                   (R f)ᵀ (R Σ Rᵀ)⁻¹ (R f), chi-squared with as many degrees as R has rows
==================  ======================================================================

=======  ========  =========================================================
model    link      f(P) is a linear function of
=======  ========  =========================================================
dina     P         whether all skills are there
dino     P         whether any skill is there
acdm     P         the skills, without interactions
llm      logit P   the skills, without interactions
rrum     ln P      the skills, without interactions
=======  ========  =========================================================

The *two-step* likelihood-ratio test keeps the posterior of the profiles under the G-DINA model:

==================  ======================================================================
symbol              name here
==================  ======================================================================
N_c, R_c            ``counts``: the expected numbers of examinees with configuration c, and of
                    their right responses, given the responses
ℓ(P)                Σ_c R_c ln P_c + (N_c − R_c) ln(1 − P_c)
2 (ℓ(P̂) − ℓ(P̃))     the statistic: P̂ of the G-DINA model, P̃ the most likely of the simpler one
==================  ======================================================================

It is compared with a chi-squared distribution; its degrees are the parameters saved.

Validation of a Q-matrix by the discrimination index ς².

==================  ======================================================================
symbol              name here
==================  ======================================================================
q                   the skills that an item is supposed to need
w_c, P_c            the share of examinees with the configuration c of these skills, and
                    their chance of a right response
ς²(q)               Σ_c w_c (P_c − Σ w P)², the variance of the chance
PVAF(q)             ``share``: ς²(q) / ς²(all skills), the proportion of variance accounted for
ε                   ``cutoff``: the smallest q with PVAF(q) ≥ ε is proposed
IQ, N, J            one minus the means of guesses and slips; the numbers of examinees and items
logit ε             −0.405 + 2.867 IQ + 4.840 · 10⁻⁴ N − 3.316 · 10⁻³ J: ``predicted_cutoff``
==================  ======================================================================

Shares and chances come from the posterior of the profiles given the responses. With all skills,
ς² is largest; a skill that an item does not need adds little.

References
----------
J. de la Torre, "The generalized DINA model framework", Psychometrika 2011 (eq. 21); J. de la Torre
and Y.-S. Lee, "Evaluating the Wald test for item-level comparison of saturated and reduced models
in cognitive diagnosis", J. Educ. Meas. 2013; W. Ma, C. Iaconangelo and J. de la Torre, "Model
similarity, model selection, and attribute classification", Appl. Psychol. Meas. 2016 (the choice);
S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 1979; M. Sorrel,
J. de la Torre, F. Abad and J. Olea, "Two-step likelihood ratio test for item-level model comparison
in cognitive diagnosis models", Methodology 2017.

J. de la Torre and C.-Y. Chiu, "A general method of empirical Q-matrix validation", Psychometrika
2016 (eqs. 6 and 12, ε = 0.95); P. Nájera, M. Sorrel and F. Abad, "Reconsidering cutoff points in
the general method of empirical Q-matrix validation", Educ. Psychol. Meas. 2019 (ε from the data,
with IQ as in the R package GDINA, ``eps = -1``).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, groupby, product
from typing import Any, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, picked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.learning.blocks import ItemBlock, ItemRule
from bnmind.adaptive.learning.learn import Learned, block_of, item_rules
from bnmind.adaptive.learning.standard_errors import Classes, standard_errors
from bnmind.adaptive.response_models.base import made_for_skills
from bnmind.adaptive.response_models.links import IDENTITY, LOG, LOGIT, LinkFunction
from bnmind.adaptive.response_models.registry import RESPONSE_MODELS
from bnmind.adaptive.response_models.tables import Gdina
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats


@dataclass(frozen=True, kw_only=True)
class ModelTest(Value):
    """A test of a simpler model of an item."""

    model: str
    """The name of the simpler model."""
    statistic: float
    """W, or twice the loss of the log-likelihood; nan if there are no degrees of freedom."""
    degrees: int
    """The Wald test leaves out constraints on chances at a bound, pooled or not identified, which
    have no variance."""
    p_value: float
    """The probability of at least this statistic if the simpler model is true."""
    corrected_p: float
    """The same, corrected for the number of items that the model is tested for (Holm)."""


@dataclass(frozen=True, kw_only=True)
class ReducedModel(Value):
    """The tests of the simpler models of an item, and the model that they leave."""

    item: str
    """The name of the item."""
    method: str
    """The name of the tests: Wald or two-step likelihood ratio."""
    tests: tuple[ModelTest, ...]
    """The test of each simpler model."""
    chosen: str
    """The model that is chosen: of the simpler ones that are not rejected, DINA or DINO if there,
    else that with the largest p; ``gdina`` if all are rejected or none can be tested."""

    def __getitem__(self, model: str) -> ModelTest:
        """Return the test of a model."""
        return next(test for test in self.tests if test.model == model)

    def to_dict(self) -> dict[str, Any]:
        """Return the tests as a record for JSON."""
        tests = [
            picked(test, "model", "statistic", "degrees", "corrected_p", p="p_value")
            for test in self.tests
        ]
        return dict(finite({**picked(self, "item", "method", "chosen"), "tests": tests}))


_Statistics: TypeAlias = dict[str, tuple[float, int]]
"""The statistic of each simpler model of an item, and its degrees of freedom."""


@checked
def reduced_models(learned: Learned, *, alpha: float = 0.05) -> tuple[ReducedModel, ...]:
    """Return Wald tests of all items with a G-DINA model of two or more binary skills.

    `reduced_models_by_ratio` tests the same models by likelihood ratios.

    Parameters
    ----------
    learned
        A learned bank; items with other models are left out.
    alpha
        A simpler model is rejected if p is smaller.

    Raises
    ------
    InvalidArgumentError
        If ``alpha`` is not between 0 and 1, or the bank has no such item.
    TooLargeError
        If there are too many profiles for a table over all of them.
    """
    tested = _items_to_test(learned, alpha)
    errors = standard_errors(learned)
    found = {}
    for name, n_skills in tested.items():
        at = [place for place, one in enumerate(errors.items) if one.item == name]
        chances = np.array([errors.items[place].value for place in at])
        covariance = errors.covariance[np.ix_(at, at)]
        found[name] = {
            model: _wald(link, design, chances, covariance)
            for model, (link, design) in _designs(n_skills).items()
        }
    return _with_choice("Wald", found, alpha)


def _items_to_test(learned: Learned, alpha: float) -> dict[str, int]:
    """Return the items with a G-DINA model of two or more binary skills, and their number.

    Raises
    ------
    InvalidArgumentError
        If there are none, or ``alpha`` is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise InvalidArgumentError(f"expected an alpha between 0 and 1, got {alpha}", alpha)
    bank = learned.bank
    tested = {}
    for item in bank.items:
        variables = (bank.network.cpd(item.name).variable, *bank.network.cpd(item.name).parents)
        are_binary = all(v.n_states == 2 for v in variables)
        if isinstance(item.gate, Gdina) and len(variables) > 2 and are_binary:
            tested[item.name] = len(variables) - 1
    if not tested:
        raise InvalidArgumentError(
            "expected items with a G-DINA model of two or more binary skills; learn with"
            " gate=Gdina",
            bank.title,
        )
    return tested


def _with_choice(
    method: str, found: Mapping[str, _Statistics], alpha: float
) -> tuple[ReducedModel, ...]:
    """Return the tests of all items with p-values, corrected ones, and the chosen models."""
    from scipy.stats import chi2

    numbers = np.array([list(row.values()) for row in found.values()])
    # Without degrees of freedom the statistic is nan, and so is p.
    raw = np.asarray(chi2.sf(numbers[..., 0], np.maximum(numbers[..., 1], 1)))
    corrected = np.apply_along_axis(holm, 0, raw)
    results = []
    for (item, row), ps, more in zip(found.items(), raw.tolist(), corrected.tolist(), strict=True):
        tests = tuple(
            ModelTest(model=model, statistic=one, degrees=df, p_value=p, corrected_p=corrected_p)
            for (model, (one, df)), p, corrected_p in zip(row.items(), ps, more, strict=True)
        )
        chosen = _model_left(tests, alpha)
        results.append(ReducedModel(item=item, method=method, tests=tests, chosen=chosen))
    return tuple(results)


def holm(p_values: Floats) -> Floats:
    """Return p-values corrected for their number, by Holm's method; nan stays nan.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    left = len(order) - np.arange(len(order))
    corrected = np.full(len(p_values), np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * left), 1.0)
    return corrected


def _designs(n_skills: int) -> Mapping[str, tuple[LinkFunction, Floats]]:
    """Return the link of each model, and the columns that f(P) is a combination of.

    The columns are ``(configurations, columns)``; the models have the names of `RESPONSE_MODELS`.
    """
    skills = np.array(list(product((0.0, 1.0), repeat=n_skills)))
    one = np.ones(len(skills))
    effects = np.column_stack([one, skills])
    return {
        "dina": (IDENTITY, np.column_stack([one, skills.min(axis=1)])),
        "dino": (IDENTITY, np.column_stack([one, skills.max(axis=1)])),
        "acdm": (IDENTITY, effects),
        "llm": (LOGIT, effects),
        "rrum": (LOG, effects),
    }


def _wald(
    link: LinkFunction, design: Floats, chances: Floats, covariance: Floats
) -> tuple[float, int]:
    """Return W and its degrees of freedom."""
    from scipy.linalg import null_space

    known = ~np.isnan(np.diag(covariance))
    chances, covariance, design = chances[known], covariance[np.ix_(known, known)], design[known]
    constraints = null_space(design.T).T if known.any() else np.zeros((0, 0))
    if not len(constraints):
        return math.nan, 0
    values = link.of(chances)
    slopes = 1 / link.slope(values)
    spread = constraints @ (covariance * np.outer(slopes, slopes)) @ constraints.T
    off = constraints @ values
    return float(off @ np.linalg.pinv(spread, hermitian=True) @ off), len(constraints)


def _model_left(tests: tuple[ModelTest, ...], alpha: float) -> str:
    kept = [test for test in tests if test.p_value >= alpha]
    first = [test for test in kept if test.model in ("dina", "dino")]
    return max(first or kept, key=lambda test: test.p_value).model if kept else "gdina"


# --- Likelihood-ratio tests -----------------------------------------------------------------------

_M_STEPS = 200
"""The most M-steps for a simpler model; those of one link need one."""

_CLOSE = 1e-9
_EMPTY = 1e-6
"""Configurations with a smaller expected number of examinees save no parameter."""


@checked
def reduced_models_by_ratio(
    learned: Learned,
    *,
    alpha: float = 0.05,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ReducedModel, ...]:
    """Return likelihood-ratio tests of all items with a G-DINA model of two or more binary skills.

    Parameters
    ----------
    learned
        A learned bank; items with other models are left out.
    alpha
        A simpler model is rejected if p is smaller.
    progress
        Called after each item with the number of tested items and of all.

    Raises
    ------
    InvalidArgumentError
        As for `reduced_models`.

    Examples
    --------
    >>> from bnmind.adaptive import Gdina, ItemBank, Responses, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> seen = Responses.drawn(ItemBank.from_qmatrix(q, 0.1, 0.1), 1000, seed=1).codes
    >>> found = reduced_models_by_ratio(learn(seen, q, gate=Gdina))
    >>> [(item.item, item.method, item.chosen) for item in found]
    [('item_3', 'two-step likelihood ratio', 'dina'), ('item_6', 'two-step likelihood ratio', \
'dina')]
    """
    tested = _items_to_test(learned, alpha)
    counts = expected_counts(learned)
    rules = {rule.name: rule for rule in item_rules(learned.model.bank, learned.options)}
    found: dict[str, _Statistics] = {}
    for number, (name, n_skills) in enumerate(tested.items(), 1):
        rule, cells = rules[name], counts[name]
        own = block_of((rule,), learned.options)
        assert own is not None
        full = _likelihood(own, own.maximize(own.start(), cells[None]), cells)
        used = cells.sum(axis=1) > _EMPTY
        found[name] = row = {}
        for model, (_, design) in _designs(n_skills).items():
            degrees = int(used.sum() - np.linalg.matrix_rank(design[used]))
            block = _simpler(rule, model, learned)
            loss = full - _likelihood(block, _most_likely(block, cells), cells)
            row[model] = 2 * max(loss, 0.0) if degrees else math.nan, degrees
        if progress is not None:
            progress(number, len(tested))
    return _with_choice("two-step likelihood ratio", found, alpha)


def expected_counts(learned: Learned) -> dict[str, Floats]:
    """Return the expected numbers of examinees, ``(groups, responses)``, by item.

    The groups are those of the configurations of the item's parents; see `ItemBlock.groups`.
    """
    layout, expectation = (
        learned.model.layout,
        learned.model.expectation(learned.responses, learned.options),
    )
    chances = layout.response_parameters(learned.parameters.items)
    expected = layout.parts(expectation(chances, learned.parameters.skills).counts)
    return {
        name: of_item
        for block, part in zip(layout.blocks, expected, strict=True)
        for name, of_item in zip(block.names, part, strict=True)
    }


def _simpler(rule: ItemRule, model: str, learned: Learned) -> ItemBlock:
    """Return the block of an item with a simpler model."""
    n, make = len(rule.parents), RESPONSE_MODELS[model].make
    made = made_for_skills(make, (1,) * n, (2,) * n, guess=0.2, slip=0.2)
    block = block_of((dataclasses.replace(rule, model=made),), learned.options)
    assert block is not None
    return block


def _most_likely(block: ItemBlock, cells: Floats) -> Floats:
    counts, values = np.zeros((1, *block.shape)), block.start()
    np.add.at(counts[0], block.groups[0], cells)
    best = _likelihood(block, values, cells)
    for _ in range(_M_STEPS):
        values = block.maximize(values, counts)
        before, best = best, _likelihood(block, values, cells)
        if best <= before + _CLOSE:
            break
    return values


def _likelihood(block: ItemBlock, values: Floats, cells: Floats) -> float:
    """Return ℓ of the configurations."""
    chances = block.response_parameters(values)[0][block.groups[0]]
    return float((cells * np.log(np.maximum(chances, 1e-300))).sum())


_SHOWN = 60
_TIE = 1e-9
"""Shares that differ by less are equal; then the first skills are proposed."""
_LEAST = 1e-12
"""Chances with a smaller variance are equal."""


@dataclass(frozen=True)
class SkillSet(Value):
    """Some skills, and how much of an item's variance they account for."""

    skills: tuple[str, ...]
    """The names of the skills."""
    share: float
    """PVAF, from 0 to 1."""


@dataclass(frozen=True)
class ItemProposal(Value):
    """The skills that an item seems to need."""

    item: str
    """The name of the item."""
    now: SkillSet
    """The skills of the Q-matrix."""
    proposed: SkillSet
    """The fewest skills whose share reaches the cutoff; of equally many the best."""
    best: tuple[SkillSet, ...]
    """The best set of one skill, of two skills, …: the mesa plot of de la Torre and Ma."""

    @property
    def is_change(self) -> bool:
        """Whether the proposal differs from the Q-matrix."""
        return self.now.skills != self.proposed.skills


@dataclass(frozen=True, eq=False)
class QValidation(Result, Value):
    """A Q-matrix with a proposal for each item."""

    items: tuple[ItemProposal, ...]
    """A proposal for each item."""
    skills: tuple[str, ...]
    """The names of the skills."""
    cutoff: float
    """The share of the variance, 0 to 1, that a proposal must reach."""

    @property
    def changes(self) -> tuple[ItemProposal, ...]:
        """The items whose proposal differs from the Q-matrix."""
        return tuple(item for item in self.items if item.is_change)

    def __repr__(self) -> str:
        return (
            f"QValidation({len(self.changes)} of {len(self.items)} items with a change proposed,"
            f" cutoff {self.cutoff:g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the cutoff and the proposed changes as a record for JSON."""
        changes = [
            {
                "item": item.item,
                "skills": list(item.now.skills),
                "proposed": list(item.proposed.skills),
            }
            for item in self.changes
        ]
        return {"cutoff": self.cutoff, "qmatrix": changes}

    def _shown(self) -> Iterator[str | Table]:
        if not self.changes:
            yield "The responses propose no change of the Q-matrix."
            return
        rows = []
        for item in self.changes[:_SHOWN]:
            now, new = item.now.skills, item.proposed.skills
            signs = [f"+{skill}" for skill in new if skill not in now]
            signs += [f"−{skill}" for skill in now if skill not in new]
            shares = (f"{item.now.share:.1%}", f"{item.proposed.share:.1%}")
            rows.append((item.item, ", ".join(now), ", ".join(signs), *shares))
        yield Table(("item", "skills now", "proposed change", "variance, from", "to"), rows)
        yield (
            f"Other skills are proposed for {counted(len(self.changes), 'item')} (cutoff"
            f" {self.cutoff:.3g}). With few examinees for each profile, proposals name too many"
            " skills; ask an expert."
        )

    @property
    def qmatrix(self) -> QMatrix:
        """The Q-matrix of all proposals.

        Raises
        ------
        InvalidModelError
            If no item needs some skill any more.
        """
        needs = [[int(s in item.proposed.skills) for s in self.skills] for item in self.items]
        return QMatrix.of(
            np.array(needs), items=[item.item for item in self.items], skills=self.skills
        )


@checked
def predicted_cutoff(learned: Learned) -> float:
    """Return the cutoff that is best for tests of this size and quality, by Nájera et al. (2019).

    It is larger for more examinees, for fewer items, and for items with small guesses and slips.

    Parameters
    ----------
    learned
        A bank with the responses from which it was learned, as `bnmind.adaptive.learn` returns it.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, Responses, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> seen = Responses.drawn(ItemBank.from_qmatrix(q, 0.1, 0.1), 1000, seed=1).codes
    >>> round(predicted_cutoff(learn(seen, q)), 2)
    0.91
    """
    n, j = len(learned.responses), len(learned.items)
    quality = 1 - sum(item.guess + item.slip for item in learned.items) / j
    logit = -0.405 + 2.867 * quality + 4.840e-4 * n - 3.316e-3 * j
    return 1 / (1 + math.exp(-logit))


@checked
def validate_qmatrix(learned: Learned, *, cutoff: float = 0.95) -> QValidation:
    """Propose the skills that each item needs.

    Parameters
    ----------
    learned
        A learned bank, best with G-DINA models: they assume least about how skills act together.
    cutoff
        ε, the share of the variance that the skills of an item must account for; for one that
        depends on the data, see `predicted_cutoff`.

    Raises
    ------
    InvalidArgumentError
        If ``cutoff`` is not between 0 and 1, or the bank has other hidden variables than skills, or
        skills with more than two levels.
    TooLargeError
        If there are too many profiles for a table over all of them.

    Examples
    --------
    >>> from bnmind.adaptive import Gdina, ItemBank, Responses, learn
    >>> truth = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]], 0.1, 0.1)
    >>> seen = Responses.drawn(truth, 2000, seed=1)
    >>> wrong = [[1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [1, 1]]
    >>> found = validate_qmatrix(learn(seen, wrong, gate=Gdina))
    >>> [(item.item, item.proposed.skills) for item in found.changes]
    [('item_3', ('skill_1', 'skill_2'))]
    """
    if not 0 < cutoff < 1:
        raise InvalidArgumentError(f"expected a cutoff between 0 and 1, got {cutoff}", cutoff)
    bank = learned.bank
    levels = [v.name for v in bank.hidden if v.n_states != 2]
    if levels:
        raise InvalidArgumentError(
            f"expected skills with two levels, got more for {', '.join(levels)}", levels[0]
        )
    others = [v.name for v in bank.hidden if v.name not in bank.skills]
    if others:
        raise InvalidArgumentError(
            f"expected a bank without hidden variables other than skills, got {', '.join(others)}",
            others[0],
        )
    skills = tuple(v.name for v in bank.hidden)
    sets = [
        chosen
        for size in range(1, len(skills) + 1)
        for chosen in combinations(range(len(skills)), size)
    ]
    items = []
    for item, (total, right) in zip(bank.item_names, _profile_counts(learned), strict=True):
        variances = {chosen: _variance(total, right, chosen) for chosen in sets}
        whole = max(variances[sets[-1]], _LEAST)
        shares = {chosen: value / whole for chosen, value in variances.items()}
        best = [_best(dict(group)) for _, group in groupby(shares.items(), lambda one: len(one[0]))]
        now = tuple(place for place, skill in enumerate(skills) if skill in bank.cause(item))
        # Of a constant item, skills account for nothing.
        proposed = next((chosen for chosen in best if shares[chosen] >= cutoff - _TIE), now)
        now_set, proposed_set, *of_sizes = (
            SkillSet(tuple(skills[place] for place in chosen), shares[chosen])
            for chosen in (now, proposed, *best)
        )
        items.append(ItemProposal(item, now_set, proposed_set, tuple(of_sizes)))
    return QValidation(tuple(items), skills, cutoff)


def _best(shares: dict[tuple[int, ...], float]) -> tuple[int, ...]:
    top = max(shares.values())
    return next(places for places, share in shares.items() if share >= top - _TIE)


def _variance(total: Floats, right: Floats, places: tuple[int, ...]) -> float:
    """Return ς² of the skills at some places."""
    rest = tuple(axis for axis in range(total.ndim) if axis not in places)
    n, k = total.sum(axis=rest).reshape(-1), right.sum(axis=rest).reshape(-1)
    chances = np.divide(k, n, out=np.zeros_like(n), where=n > 0)
    weights = n / n.sum()
    return float(weights @ (chances - weights @ chances) ** 2)


def _profile_counts(learned: Learned) -> Iterator[tuple[Floats, Floats]]:
    """Yield the expected numbers of examinees and of their scores, an axis for each skill.

    An item with more than two responses counts by the share of its highest response.
    """
    classes = Classes.of(learned)
    weighted = (classes.posterior * classes.weights[:, None]).T
    for item in classes.items:
        of_class = weighted @ item.given
        points = np.linspace(0, 1, of_class.shape[1])
        of_profile = of_class[classes.expectation.classes] * classes.shares[:, None]
        counts = of_profile.reshape(*learned.model.skills.shape, -1)
        yield counts.sum(axis=-1), counts @ points
