"""Which model of the responses, which structure of the skills, and which skills an item needs.

Models of the same responses are compared by information criteria, and by likelihood-ratio tests:

==================  ======================================================================
symbol              name here
==================  ======================================================================
L, p, N             the likelihood, the number of parameters, the number of examinees
AIC, BIC            2 p − 2 ln L; p ln N − 2 ln L
CAIC, SABIC         p (ln N + 1) − 2 ln L; p ln((N + 2) / 24) − 2 ln L
==================  ======================================================================

Cross-validation compares the likelihood of examinees under models learned from the others.
Structures of the skills are compared by it; one of them is a tree from the data:

==================  ======================================================================
symbol              name here
==================  ======================================================================
I(A; B)             ``mutual_information``: of two skills, in bits, over the learned profiles
==================  ======================================================================

A tree of the largest total I is the tree distribution that is closest to that of the profiles
(Chow and Liu, eq. 8).

A Q-matrix is validated by the discrimination index ς²:

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
logit ε             −0.405 + 2.867 IQ + 4.840 · 10⁻⁴ N − 3.316 · 10⁻³ J, if no cutoff is given
==================  ======================================================================

Shares and chances come from the posterior of the profiles given the responses. With all skills,
ς² is largest; a skill that an item does not need adds little.

References
----------
H. Akaike, 1974; G. Schwarz, 1978; H. Bozdogan, Psychometrika 1987 (CAIC); S. Sclove, Psychometrika
1987 (the sample-size adjusted BIC); C. Chow and C. Liu, "Approximating discrete probability
distributions with dependence trees", IEEE Trans. Inf. Theory 1968.

J. de la Torre and C.-Y. Chiu, "A general method of empirical Q-matrix validation", Psychometrika
2016 (eqs. 6 and 12, ε = 0.95); P. Nájera, M. Sorrel and F. Abad, "Reconsidering cutoff points in
the general method of empirical Q-matrix validation", Educ. Psychol. Meas. 2019 (ε from the data,
with IQ as in the R package GDINA, ``eps = -1``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations, groupby, product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, picked, text_of
from bnmind._messages import counted
from bnmind._values import Value, sealed
from bnmind._workers import results_of
from bnmind.adaptive.estimates import beliefs_given_anyway
from bnmind.adaptive.formulas import ResponseModel
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.skill_distributions import Independent, ProfileDistribution, Saturated
from bnmind.adaptive.learning.blocks import LearningOptions
from bnmind.adaptive.learning.item_tests import Classes, p_of
from bnmind.adaptive.learning.learn import Learned, learn, learning_inputs
from bnmind.adaptive.responses import Responses, fold_numbers
from bnmind.adaptive.skill_models import Dina
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats, entropy
from bnmind.pgm import CPD, Factor, Network, TabularCPD

if TYPE_CHECKING:
    import pandas


# --- Models of all responses ----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ComparedModel(Value):
    """The relative fit of a model."""

    name: str
    """The name that was given to the model."""
    log_likelihood: float
    """Natural logarithm of the probability of all responses."""
    n_parameters: int
    """The number of free parameters, p."""
    aic: float
    """Akaike's criterion, −2 ln L + 2 p; smaller is better."""
    bic: float
    """The Bayesian criterion, −2 ln L + p ln N for N examinees."""
    caic: float
    """The consistent criterion of Akaike, −2 ln L + p (ln N + 1)."""
    sabic: float
    """The Bayesian criterion adjusted for the sample size: ln((N + 2) / 24) in place of ln N."""


@dataclass(frozen=True, kw_only=True)
class LikelihoodRatio(Value):
    """A test of a model against a larger one that contains it."""

    statistic: float
    """Twice the difference of the log-likelihoods."""
    degrees: int
    """The degrees of freedom: the difference of the numbers of parameters."""
    p_value: float
    """The probability of at least this statistic if the smaller model is true."""


@dataclass(frozen=True)
class Comparison(Result, Value):
    """Models of the same responses. Created by `compare_models`."""

    models: tuple[ComparedModel, ...]
    """The models."""
    against_gdina: Mapping[str, LikelihoodRatio] = field(default_factory=dict)
    """The test of each model that a G-DINA model contains against that one, by its name."""

    @property
    def best_by_aic(self) -> str:
        """The name of the model with the smallest AIC."""
        return min(self.models, key=lambda model: model.aic).name

    @property
    def best_by_bic(self) -> str:
        """The name of the model with the smallest BIC."""
        return min(self.models, key=lambda model: model.bic).name

    def to_dict(self) -> dict[str, Any]:
        """Return the models, the smallest BIC first, as a record for JSON."""
        best = picked(self, "best_by_aic", "best_by_bic")
        return dict(finite({"models": self._ranked(), **best}))

    def _ranked(self) -> list[dict[str, Any]]:
        tests = {name: {"p_against_gdina": x.p_value} for name, x in self.against_gdina.items()}
        ranked = sorted(self.models, key=lambda model: model.bic)
        return [vars(model) | tests.get(model.name, {}) for model in ranked]

    def _shown(self) -> Iterator[str | Table]:
        columns = {
            "model": "{0[name]}",
            "log-likelihood": "{0[log_likelihood]:.2f}",
            "parameters": "{0[n_parameters]}",
            **{name.upper(): f"{{0[{name}]:.2f}}" for name in ("aic", "bic", "caic", "sabic")},
        }
        if self.against_gdina:
            columns["p against gdina"] = "{0[p_against_gdina]:.3g}"
        yield Table.of([{"p_against_gdina": math.nan} | row for row in self._ranked()], columns)
        by_aic, by_bic = self.best_by_aic, self.best_by_bic
        told = f"AIC prefers {by_aic}, BIC {by_bic}"
        if by_aic == by_bic:
            told = f"AIC and BIC prefer {by_bic}"
        yield f"{told}; smaller is better."
        if self.against_gdina:
            yield (
                "p is that of a likelihood-ratio test. If it is small, gdina fits better than the"
                " smaller model does, by more than chance."
            )

    def to_frame(self) -> pandas.DataFrame:
        """Return the models as rows."""
        import pandas as pd

        return pd.DataFrame([vars(model) for model in self.models]).set_index("name")

    __repr__ = text_of


@checked
def compare_models(models: Mapping[str, Learned]) -> Comparison:
    """Compare models that were learned from the same responses.

    Parameters
    ----------
    models
        Learned banks by the names under which they are compared, at least one.

    Raises
    ------
    InvalidArgumentError
        If there is no model, or they were learned from different responses.

    Examples
    --------
    >>> from bnmind.adaptive import Dino, ItemBank, Responses, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 1]]
    >>> seen = Responses.drawn(ItemBank.from_qmatrix(q, 0.1, 0.1), 500, seed=1).codes
    >>> compare_models({"DINA": learn(seen, q), "DINO": learn(seen, q, gate=Dino)}).best_by_bic
    'DINA'
    """
    first = next(iter(models.values()), None)
    if first is None:
        raise InvalidArgumentError("expected at least one model, got none", models)
    rows = []
    for name, learned in models.items():
        _check_same(first, learned, name)
        n, p, likelihood = len(learned.responses), learned.n_parameters, learned.log_likelihood
        rows.append(
            ComparedModel(
                name=str(name),
                log_likelihood=likelihood,
                n_parameters=p,
                aic=learned.aic,
                bic=learned.bic,
                caic=p * (math.log(n) + 1) - 2 * likelihood,
                sabic=p * math.log((n + 2) / 24) - 2 * likelihood,
            )
        )
    return Comparison(tuple(rows))


@checked
def likelihood_ratio(smaller: Learned, larger: Learned) -> LikelihoodRatio:
    """Test a model against a larger one that contains it.

    Parameters
    ----------
    smaller
        The learned bank that the larger one contains.
    larger
        The learned bank with more parameters.

    Raises
    ------
    InvalidArgumentError
        If the models were learned from different responses, or the larger one has no more
        parameters.
    """
    _check_same(smaller, larger, "the larger model")
    degrees = larger.n_parameters - smaller.n_parameters
    if degrees < 1:
        raise InvalidArgumentError(
            f"expected the larger model to have more parameters than the smaller one, got"
            f" {larger.n_parameters} and {smaller.n_parameters}",
            degrees,
        )
    gain = max(2 * (larger.log_likelihood - smaller.log_likelihood), 0.0)
    return LikelihoodRatio(statistic=gain, degrees=degrees, p_value=float(p_of(gain, degrees)))


def _check_same(first: Learned, other: Learned, name: object) -> None:
    """Raise if two models were learned from different responses."""
    one, two = first.responses, other.responses
    if set(one.items) != set(two.items) or not np.array_equal(
        one.codes, two.codes[:, [two.items.index(item) for item in one.items]]
    ):
        raise InvalidArgumentError(
            f"expected models of the same responses, but {name} was learned from others", name
        )


# --- Cross-validation -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CrossValidation(Value):
    """Banks learned without each fold, with the likelihoods of the folds."""

    responses: Responses
    """All responses, with columns in the order of the banks' items."""
    folds: NDArray[np.intp]
    """``(examinees,)``, the fold of each examinee."""
    learned: tuple[Learned, ...]
    """The result of learning without each fold."""

    def __repr__(self) -> str:
        return (
            f"CrossValidation({counted(len(self.learned), 'fold')}:"
            f" log-likelihood {self.log_likelihood:.2f})"
        )

    @cached_property
    def log_likelihoods(self) -> Floats:
        """Natural logarithm of the probability of each examinee's responses, ``(examinees,)``.

        The bank is that learned from other folds. Minus infinity for a probability of zero.
        """
        values = np.empty(len(self.responses))
        for fold, learned in enumerate(self.learned):
            held = self.responses.take(self.folds == fold).for_bank(learned.bank)
            beliefs = beliefs_given_anyway(learned.bank, held.codes)
            possible = beliefs.error_chance == 0
            values[self.folds == fold] = np.where(possible, beliefs.log_evidence, -np.inf)
        return sealed(values)

    @property
    def log_likelihood(self) -> float:
        """The sum of `log_likelihoods`; larger is better."""
        return float(self.log_likelihoods.sum())


@checked
def cross_validate(
    responses: Responses | pandas.DataFrame | ArrayLike,
    model: ItemBank | QMatrix | pandas.DataFrame | ArrayLike,
    *,
    gate: str | Callable[..., ResponseModel] = Dina,
    skills: ProfileDistribution | Network | None = None,
    options: LearningOptions | None = None,
    folds: int = 10,
    fold_seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> CrossValidation:
    """Return a bank for each fold, learned from all examinees of the other folds.

    Parameters
    ----------
    responses, model, gate, skills, options
        As for `learn`; the workers of the options get a fold each.
    folds, fold_seed
        As for `fold_numbers`: the fold of each examinee is
        ``default_rng(fold_seed).permutation(examinees) % folds``.
    progress
        Called after every fold with the number of learned folds and of all folds.

    Raises
    ------
    TableError
        As for `learn`, and if nobody outside of a fold answered an item.
    """
    bank, data = learning_inputs(responses, model, gate, skills)
    numbers = fold_numbers(len(data), folds=folds, seed=fold_seed)
    return _cross_validated([bank] * folds, data, numbers, options, progress)


def _cross_validated(
    banks: Sequence[ItemBank],
    data: Responses,
    numbers: NDArray[np.intp],
    options: LearningOptions | None,
    progress: Callable[[int, int], None] | None,
) -> CrossValidation:
    """Return what is learned without each fold, given the bank that its learning starts from."""
    asked = options or LearningOptions()
    # A fold is one task, so its starts are not distributed once more.
    alone = asked if asked.workers == 1 else replace(asked, workers=1)
    tasks = [
        partial(learn, data.take(numbers != fold), bank, options=alone)
        for fold, bank in enumerate(banks)
    ]
    learned: list[Learned] = []
    for one in results_of(tasks, asked.workers):
        learned.append(one)
        if progress is not None:
            progress(len(learned), len(banks))
    return CrossValidation(data, numbers, tuple(learned))


# --- Structures of the skills ---------------------------------------------------------------------

_TIE = 1e-9
"""Bits. Skills whose information differs by less are joined in the order of the bank."""


@checked
def mutual_information(learned: Learned) -> Floats:
    """Return the information of skills about each other, in bits, ``(skills, skills)``.

    The diagonal is the entropy of each skill.

    Parameters
    ----------
    learned
        A bank with the responses from which it was learned, as `bnmind.adaptive.learn` returns it.
    """
    joint = Factor(learned.bank.hidden, learned.profiles)
    names = joint.names
    table = np.zeros((len(names), len(names)))
    for (a, one), (b, other) in product(enumerate(names), repeat=2):
        each = [joint.sum_to(some).values.real for some in ({one}, {other}, {one, other})]
        bits = [float(entropy(values.reshape(-1))) for values in each]
        table[a, b] = bits[0] if a == b else bits[0] + bits[1] - bits[2]
    return table


@checked
def skill_tree(learned: Learned, *, root: str | None = None) -> Network:
    """Return the tree of the skills that is closest to the learned profiles, as a network.

    Parameters
    ----------
    learned
        A bank with a saturated distribution of the skills, or another rich one.
    root
        The skill without a parent; by default the first. All roots give the same distribution.

    Returns
    -------
    Network
        For ``skills`` of `bnmind.adaptive.learn` and of `ItemBank.from_qmatrix`.

    Raises
    ------
    UnknownNameError
        If the root is no skill of the bank.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, Responses, learn
    >>> q = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 3
    >>> chain = [[[0.5, 0.1], [0.05, 0.05]], [[0.0, 0.0], [0.05, 0.25]]]
    >>> truth = ItemBank.from_qmatrix(q, 0.1, 0.1, skills=Saturated(chain))
    >>> seen = Responses.drawn(truth, 2000, seed=1).codes
    >>> tree = skill_tree(learn(seen, q))
    >>> [(v.name, tree.parents(v.name)) for v in tree.variables]
    [('skill_1', ()), ('skill_2', ('skill_1',)), ('skill_3', ('skill_2',))]
    """
    import networkx as nx

    variables = learned.bank.hidden
    names = [v.name for v in variables]
    if root is not None and root not in names:
        raise UnknownNameError("skill", root, names)
    information, joint = mutual_information(learned), Factor(variables, learned.profiles)
    graph = nx.Graph()
    graph.add_nodes_from(range(len(names)))
    for a, b in combinations(range(len(names)), 2):
        graph.add_edge(a, b, weight=round(float(information[a, b]) / _TIE))
    spanning = nx.maximum_spanning_tree(graph, algorithm="kruskal")
    first = 0 if root is None else names.index(root)
    parent = {child: above for above, child in nx.bfs_edges(spanning, first)}
    cpds: list[CPD] = []
    for place, variable in enumerate(variables):
        parents = (variables[parent[place]],) if place in parent else ()
        scope = [v.name for v in (variable, *parents)]
        table = joint.sum_to(scope).transpose(scope).values.real
        sums = table.sum(axis=0, keepdims=True)
        even = np.full(table.shape, 1 / len(table))
        rows = np.divide(table, sums, out=even, where=sums > 0)
        cpds.append(TabularCPD(variable, parents, rows))
    return Network(tuple(cpds))


@dataclass(frozen=True, kw_only=True)
class SkillStructure(Value):
    """A structure of the skills, with the likelihood of examinees that it was not learned from."""

    name: str
    """The name of the structure."""
    log_likelihood: float
    """Natural logarithm of the probability of all responses, each under the bank learned from the
    other folds; larger is better."""
    n_parameters: float
    """The mean number of free parameters."""
    behind: float
    """The mean difference of an examinee's log-likelihood from that of the best structure."""
    behind_error: float
    """The standard error of ``behind``; 0 for the best."""


AnyStructure: TypeAlias = ProfileDistribution | Network | Callable[[Learned], Network]
"""A distribution of skills, a network of them, or a function that makes one of a learned bank."""


@checked
def compare_structures(
    responses: Responses | pandas.DataFrame | ArrayLike,
    q_matrix: QMatrix | pandas.DataFrame | ArrayLike,
    structures: Mapping[str, AnyStructure] | None = None,
    *,
    gate: str | Callable[..., ResponseModel] = Dina,
    options: LearningOptions | None = None,
    folds: int = 10,
    fold_seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[SkillStructure, ...]:
    """Compare distributions of the skills by cross-validation, the best first.

    Parameters
    ----------
    responses, q_matrix, gate, options
        As for `bnmind.adaptive.learn`.
    structures
        The distributions by name; by default saturated, tree and independent. A function such as
        `skill_tree` finds one in the bank that is learned from each fold's examinees with a
        saturated distribution.
    folds, fold_seed
        As for `bnmind.adaptive.cross_validate`.
    progress
        Called with the number of learned banks, and of all.

    Raises
    ------
    InvalidArgumentError
        If there is no structure.
    """
    named: Mapping[str, AnyStructure] = {
        "saturated": Saturated(),
        "tree": skill_tree,
        "independent": Independent(),
    }
    named = named if structures is None else structures
    if not named:
        raise InvalidArgumentError("expected at least one structure, got none", structures)
    _, data = learning_inputs(responses, q_matrix, gate, Independent())
    numbers = fold_numbers(len(data), folds=folds, seed=fold_seed)
    found: dict[str, CrossValidation] = {}

    def learned_with(
        skills: Sequence[ProfileDistribution | Network], *, told: bool = True
    ) -> CrossValidation:
        banks = [learning_inputs(responses, q_matrix, gate, one)[0] for one in skills]
        done, of = len(found) * folds, len(named) * folds
        report = progress and (lambda fold, _: progress(done + fold, of))
        return _cross_validated(banks, data, numbers, options, report if told else None)

    for name, structure in named.items():
        if callable(structure):
            rich = next((found[one] for one in found if named[one] == Saturated()), None)
            rich = rich or learned_with([Saturated()] * folds, told=False)
            found[name] = learned_with([structure(learned) for learned in rich.learned])
        else:
            found[name] = learned_with([structure] * folds)
    best = max(found.values(), key=lambda one: one.log_likelihood)
    rows = []
    for name, one in found.items():
        off = one.log_likelihoods - best.log_likelihoods
        rows.append(
            SkillStructure(
                name=name,
                log_likelihood=one.log_likelihood,
                n_parameters=sum(learned.n_parameters for learned in one.learned) / folds,
                behind=float(off.mean()),
                behind_error=float(off.std(ddof=1) / np.sqrt(len(off))),
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.log_likelihood))


# --- Validation of the Q-matrix -------------------------------------------------------------------

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
        return tuple(item for item in self.items if item.now.skills != item.proposed.skills)

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
def validate_qmatrix(learned: Learned, *, cutoff: float | None = 0.95) -> QValidation:
    """Propose the skills that each item needs.

    Parameters
    ----------
    learned
        A learned bank, best with G-DINA models: they assume least about how skills act together.
    cutoff
        ε, the share of the variance that the skills of an item must account for. None for the one
        that is best for tests of this size and quality, by Nájera et al. (2019): it is larger for
        more examinees, for fewer items, and for items with small guesses and slips.

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
    bank = learned.bank
    if cutoff is None:
        quality = 1 - sum(item.guess + item.slip for item in learned.items) / len(bank.items)
        size = 4.840e-4 * len(learned.responses) - 3.316e-3 * len(bank.items)
        cutoff = 1 / (1 + math.exp(0.405 - 2.867 * quality - size))
    if not 0 < cutoff < 1:
        raise InvalidArgumentError(f"expected a cutoff between 0 and 1, got {cutoff}", cutoff)
    for v in bank.hidden:
        if v.n_states != 2:
            raise InvalidArgumentError(
                f"expected skills with two levels, got more for {v.name}", v.name
            )
        if v.name not in bank.skills:
            raise InvalidArgumentError(
                f"expected a bank without hidden variables other than skills, got {v.name}", v.name
            )
    skills = tuple(v.name for v in bank.hidden)
    sets = [
        chosen
        for size in range(1, len(skills) + 1)
        for chosen in combinations(range(len(skills)), size)
    ]
    items = []
    for item, (total, right) in zip(bank.item_names, _profile_counts(learned), strict=True):
        variances = [_variance(total, right, chosen) for chosen in sets]
        whole = max(variances[-1], _LEAST)
        found = {
            chosen: SkillSet(tuple(skills[place] for place in chosen), variance / whole)
            for chosen, variance in zip(sets, variances, strict=True)
        }
        # Of equal shares, the first.
        best = [
            max(group, key=lambda one: round(one.share, 9))
            for _, group in groupby(found.values(), lambda one: len(one.skills))
        ]
        now = found[tuple(k for k, skill in enumerate(skills) if skill in bank.cause(item))]
        # Of a constant item, skills account for nothing.
        proposed = next((one for one in best if one.share >= cutoff - _TIE), now)
        items.append(ItemProposal(item, now, proposed, tuple(best)))
    return QValidation(tuple(items), skills, cutoff)


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
