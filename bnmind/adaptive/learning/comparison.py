"""Relative fit: information criteria, likelihood-ratio tests, and cross-validation.

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

References
----------
H. Akaike, 1974; G. Schwarz, 1978; H. Bozdogan, Psychometrika 1987 (CAIC); S. Sclove, Psychometrika
1987 (the sample-size adjusted BIC); C. Chow and C. Liu, "Approximating discrete probability
distributions with dependence trees", IEEE Trans. Inf. Theory 1968.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, text_of
from bnmind._messages import counted
from bnmind._values import Value
from bnmind._workers import results_of
from bnmind.adaptive.beliefs.estimates import beliefs_given
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.skill_distributions import Independent, ProfileDistribution, Saturated
from bnmind.adaptive.learning.learn import Learned, learn, learning_inputs
from bnmind.adaptive.learning.options import LearningOptions
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.gates import Dina
from bnmind.adaptive.responses.responses import Responses, fold_numbers
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm import CPD, Network, TabularCPD

if TYPE_CHECKING:
    import pandas


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
        rows = [dict(vars(model)) for model in self._ranked()]
        for row in rows:
            if row["name"] in self.against_gdina:
                row["p_against_gdina"] = self.against_gdina[row["name"]].p_value
        best = {"best_by_aic": self.best_by_aic, "best_by_bic": self.best_by_bic}
        return dict(finite({"models": rows, **best}))

    def _ranked(self) -> list[ComparedModel]:
        return sorted(self.models, key=lambda model: model.bic)

    def _shown(self) -> Iterator[str | Table]:
        heads = ["model", "log-likelihood", "parameters", "AIC", "BIC", "CAIC", "SABIC"]
        rows = [
            [
                row.name,
                f"{row.log_likelihood:.2f}",
                str(row.n_parameters),
                *(f"{value:.2f}" for value in (row.aic, row.bic, row.caic, row.sabic)),
            ]
            for row in self._ranked()
        ]
        tests = self.against_gdina
        if tests:
            heads.append("p against gdina")
            for row in rows:
                row.append(f"{tests[row[0]].p_value:.3g}" if row[0] in tests else "")
        yield Table(heads, rows)
        by_aic, by_bic = self.best_by_aic, self.best_by_bic
        told = f"AIC prefers {by_aic}, BIC {by_bic}"
        if by_aic == by_bic:
            told = f"AIC and BIC prefer {by_bic}"
        yield f"{told}; smaller is better."
        if tests:
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
    from scipy.stats import chi2

    _check_same(smaller, larger, "the larger model")
    degrees = larger.n_parameters - smaller.n_parameters
    if degrees < 1:
        raise InvalidArgumentError(
            f"expected the larger model to have more parameters than the smaller one, got"
            f" {larger.n_parameters} and {smaller.n_parameters}",
            degrees,
        )
    statistic = max(2 * (larger.log_likelihood - smaller.log_likelihood), 0.0)
    return LikelihoodRatio(
        statistic=statistic, degrees=degrees, p_value=float(chi2.sf(statistic, degrees))
    )


def _check_same(first: Learned, other: Learned, name: object) -> None:
    """Raise if two models were learned from different responses."""
    one, two = first.responses, other.responses
    same = set(one.items) == set(two.items) and len(one) == len(two)
    if same:
        order = [two.items.index(item) for item in one.items]
        same = bool(np.array_equal(one.codes, two.codes[:, order]))
    if not same:
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

    @property
    def banks(self) -> tuple[ItemBank, ...]:
        """The bank learned without each fold."""
        return tuple(one.bank for one in self.learned)

    @cached_property
    def log_likelihoods(self) -> Floats:
        """Natural logarithm of the probability of each examinee's responses, ``(examinees,)``.

        The bank is that learned from other folds. Minus infinity for a probability of zero.
        """
        values = np.empty(len(self.responses))
        for fold, bank in enumerate(self.banks):
            rows = np.flatnonzero(self.folds == fold)
            values[rows] = _log_evidence(bank, self.responses.codes[rows])
        values.setflags(write=False)
        return values

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
    asked = options or LearningOptions()
    # A fold is one task, so its starts are not distributed once more.
    alone = asked if asked.workers == 1 else replace(asked, workers=1)
    tasks = [
        partial(learn, data.take(numbers != fold), bank, options=alone) for fold in range(folds)
    ]
    learned: list[Learned] = []
    for one in results_of(tasks, asked.workers):
        learned.append(one)
        if progress is not None:
            progress(len(learned), folds)
    return CrossValidation(data, numbers, tuple(learned))


def _log_evidence(bank: ItemBank, codes: NDArray[np.signedinteger]) -> Floats:
    try:
        return beliefs_given(bank, codes).log_evidence
    except ImpossibleEvidenceError:
        if len(codes) == 1:
            return np.array([-np.inf])
        return np.concatenate([_log_evidence(bank, row[None]) for row in codes])


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
    profiles = learned.profiles
    n = profiles.ndim
    table = np.zeros((n, n))
    single = [_entropy(profiles, (axis,)) for axis in range(n)]
    for a, b in combinations(range(n), 2):
        table[a, b] = table[b, a] = single[a] + single[b] - _entropy(profiles, (a, b))
    table[np.arange(n), np.arange(n)] = single
    return table


def _entropy(profiles: Floats, axes: tuple[int, ...]) -> float:
    p = profiles.sum(axis=tuple(a for a in range(profiles.ndim) if a not in axes)).reshape(-1)
    p = p[p > 0]
    return float(-(p @ np.log2(p)))


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
    profiles, information = learned.profiles, mutual_information(learned)
    graph = nx.Graph()
    graph.add_nodes_from(range(len(names)))
    for a, b in combinations(range(len(names)), 2):
        graph.add_edge(a, b, weight=round(float(information[a, b]) / _TIE))
    spanning = nx.maximum_spanning_tree(graph, algorithm="kruskal")
    first = 0 if root is None else names.index(root)
    parent = {child: above for above, child in nx.bfs_edges(spanning, first)}
    cpds: list[CPD] = []
    for place, variable in enumerate(variables):
        axes = (place, parent[place]) if place in parent else (place,)
        ordered = sorted(axes)
        table = profiles.sum(axis=tuple(a for a in range(len(names)) if a not in axes))
        table = table.transpose([ordered.index(a) for a in axes])
        sums = table.sum(axis=0, keepdims=True)
        even = np.full(table.shape, 1 / len(table))
        rows = np.divide(table, sums, out=even, where=sums > 0)
        cpds.append(TabularCPD(variable, tuple(variables[a] for a in axes[1:]), rows))
    return Network(tuple(cpds))


@dataclass(frozen=True)
class SkillTree(Value):
    """A structure to compare: the tree of `skill_tree`, learned anew from each fold's examinees."""


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


@checked
def compare_structures(
    responses: Responses | pandas.DataFrame | ArrayLike,
    q_matrix: QMatrix | pandas.DataFrame | ArrayLike,
    structures: Mapping[str, ProfileDistribution | Network | SkillTree] | None = None,
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
        The distributions by name; by default saturated, tree and independent.
    folds, fold_seed
        As for `bnmind.adaptive.cross_validate`.
    progress
        Called with the number of learned banks, and of all.

    Raises
    ------
    InvalidArgumentError
        If there is no structure.
    """
    named: dict[str, ProfileDistribution | Network | SkillTree] = (
        {"saturated": Saturated(), "tree": SkillTree(), "independent": Independent()}
        if structures is None
        else dict(structures)
    )
    if not named:
        raise InvalidArgumentError("expected at least one structure, got none", structures)
    bank, data = learning_inputs(responses, q_matrix, gate, Independent())
    q = QMatrix.of(q_matrix, expected=data.items)
    if q.item_names != bank.item_names:  # a Q-matrix whose rows have no names
        q = QMatrix(q.needs, bank.items, q.skills)
    numbers = fold_numbers(len(data), folds=folds, seed=fold_seed)
    likely = {name: np.empty(len(data)) for name in named}
    sizes = dict.fromkeys(named, 0)
    for fold in range(folds):
        training = data.take(numbers != fold)
        rich: Learned | None = None
        for place, (name, structure) in enumerate(named.items()):
            skills = structure
            if isinstance(skills, SkillTree):
                rich = rich or learn(training, q, gate=gate, skills=Saturated(), options=options)
                skills = skill_tree(rich)
            learned = learn(training, q, gate=gate, skills=skills, options=options)
            if isinstance(structure, Saturated) and structure.probabilities is None:
                rich = learned
            held = data.take(numbers == fold).for_bank(learned.bank)
            likely[name][numbers == fold] = beliefs_given(learned.bank, held.codes).log_evidence
            sizes[name] += learned.n_parameters
            if progress is not None:
                progress(fold * len(named) + place + 1, folds * len(named))
    best = max(named, key=lambda name: float(likely[name].sum()))
    rows = []
    for name, values in likely.items():
        off = values - likely[best]
        rows.append(
            SkillStructure(
                name=name,
                log_likelihood=float(values.sum()),
                n_parameters=sizes[name] / folds,
                behind=float(off.mean()),
                behind_error=float(off.std(ddof=1) / np.sqrt(len(off))),
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.log_likelihood))
