"""Learning a bank from several groups of examinees at once, and differential item functioning.

The items have the same parameters in all groups; each group has a distribution of the skills of its
own. The E-step is that of each group; the M-step of the items uses the counts of all.

The scale of one ability is that of the first group, whose ability is as in the options, such as
normal with mean 0 and deviation 1. The means and deviations of the other groups are learned.

Differential item functioning: items that behave otherwise in another group.

The items are learned for all groups together, with the skills of each group; then each item is
learned once more with parameters of its own in each group, all other items in common. Twice the
gain of the log-likelihood is chi-squared with as many degrees of freedom as there are new
parameters. The p-values are corrected for the number of items (Holm 1979).

The other items are *anchors*: they make the skills of the groups comparable. If some items are
named as anchors, or if the anchors are purified, items that are no anchors have parameters of
their own in each group throughout.

References
----------
R. Bock and M. Zimowski, "Multiple group IRT", in *Handbook of Modern Item Response Theory*, 1997;
X. Xu and M. von Davier, "Comparing multiple-group multinomial log-linear models for
multidimensional skill distributions in the general diagnostic model", ETS RR-08-35, 2008.

D. Thissen, L. Steinberg and H. Wainer, "Detection of differential item functioning using the
parameters of item response models", in *Differential Item Functioning*, 1993 (all other items as
anchors); L. Hou, J. de la Torre and R. Nandakumar, "Differential item functioning assessment in
cognitive diagnostic modeling", J. Educ. Meas. 2014; R. P. Chalmers, J. Stat. Softw. 2012 (function
``DIF`` of the R package mirt, for one ability); G. Candell and F. Drasgow, "An iterative procedure
for linking metrics and assessing item bias in item response theory", Appl. Psychol. Meas. 1988
(purification).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Gt, Lt, MinLen
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, shown
from bnmind._values import Value
from bnmind.adaptive.belief_tables import ProfileSpace
from bnmind.adaptive.beliefs import MISSING
from bnmind.adaptive.estimates import (
    ability_deviation,
    expected_ability,
    start_belief,
)
from bnmind.adaptive.formulas import ResponseModel
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.skill_distributions import ProfileDistribution
from bnmind.adaptive.learning.blocks import LearningOptions
from bnmind.adaptive.learning.em import (
    BankAscent,
    Expectation,
    Expected,
    Parameters,
    ResponseLayout,
    all_climbs,
    usual_starts,
)
from bnmind.adaptive.learning.irt import has_curves
from bnmind.adaptive.learning.item_tests import holm
from bnmind.adaptive.learning.learn import LearningModel, learning_inputs
from bnmind.adaptive.responses import Responses
from bnmind.adaptive.skill_models import Dina, SkillEffects
from bnmind.errors import InvalidArgumentError
from bnmind.fitting.em import LearningRecord
from bnmind.information import Floats
from bnmind.pgm import Network

if TYPE_CHECKING:
    import pandas

_FEWEST = 2
"""The fewest examinees of a group."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedGroups(Value):
    """Banks of several groups with the same items. Created by `learn_groups`."""

    groups: tuple[str, ...]
    """The names of the groups, sorted."""
    banks: tuple[ItemBank, ...]
    """The bank of each group; they differ in the distribution of the skills."""
    sizes: tuple[int, ...]
    """The number of examinees of each group."""
    n_parameters: int
    """The number of free parameters: those of the items, and for each group those of the skills."""
    record: LearningRecord
    """How the likelihood rose."""
    parameters: Parameters
    """The parameters of the items, and the tables of the skills, group after group."""

    def __repr__(self) -> str:
        return (
            f"LearnedGroups({counted(len(self.groups), 'group')},"
            f" {counted(sum(self.sizes), 'examinee')}:"
            f" log-likelihood {self.log_likelihood:.2f}, {counted(self.n_parameters, 'parameter')})"
        )

    def __getitem__(self, group: str) -> ItemBank:
        """Return the bank of a group."""
        return self.banks[self.groups.index(group)]

    @property
    def abilities(self) -> Mapping[str, tuple[float, float]]:
        """The mean and the standard deviation of the ability in each group, for banks of one.

        Empty for banks of skills.
        """
        found = {}
        for group, bank in zip(self.groups, self.banks, strict=True):
            if has_curves(bank):
                prior = start_belief(bank)
                found[group] = float(expected_ability(prior)), float(ability_deviation(prior))
        return MappingProxyType(found)

    @property
    def log_likelihood(self) -> float:
        """Natural logarithm of the probability of all responses."""
        return self.record.log_likelihoods[-1]

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 · parameters − 2 · log-likelihood."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, parameters · ln examinees − 2 · log-likelihood."""
        return self.n_parameters * math.log(sum(self.sizes)) - 2 * self.log_likelihood


@checked
def learn_groups(
    responses: Responses | pandas.DataFrame | ArrayLike,
    model: ItemBank | QMatrix | pandas.DataFrame | ArrayLike,
    groups: Sequence[object] | None = None,
    *,
    gate: str | Callable[..., ResponseModel] = Dina,
    skills: ProfileDistribution | Network | None = None,
    options: LearningOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LearnedGroups:
    """Learn the same items for all groups, and the skills of each group.

    Parameters
    ----------
    responses, model, gate, skills, progress
        As for `bnmind.adaptive.learn`.
    groups
        The group of each examinee, such as a column of a data frame; by default those of the
        responses.
    options
        As for `learn`; the starts run one after the other.

    Raises
    ------
    InvalidArgumentError
        If there are not as many groups as examinees, fewer than two groups, a group of one
        examinee, or all hidden variables are fixed.
    TableError, InvalidModelError, ImpossibleEvidenceError
        As for `learn`.
    """
    asked = options or LearningOptions()
    bank, data = learning_inputs(responses, model, gate, skills)
    given = group_positions(data.groups if groups is None else groups, len(data))
    return _learned_groups(bank, data, given, asked, progress=progress)


def _learned_groups(
    bank: ItemBank,
    data: Responses,
    groups: tuple[tuple[str, ...], NDArray[np.intp]],
    asked: LearningOptions,
    own: frozenset[str] = frozenset(),
    progress: Callable[[int, int], None] | None = None,
) -> LearnedGroups:
    """Return what `learn_groups` does; some items have parameters of their own in each group."""
    later = options_of_later_groups(bank, asked)
    if later is None and set(asked.fixed) >= {v.name for v in bank.hidden}:
        raise InvalidArgumentError(
            "all hidden variables are fixed, so that groups cannot differ in them: differences of"
            " the groups would be taken for differences of the items",
            tuple(sorted(asked.fixed)),
        )
    names, positions = groups
    first = LearningModel.of(bank, asked)
    other = first if later is None else LearningModel.of(bank, later)
    models = [first, *[other] * (len(names) - 1)]
    # An item with parameters of its own in each group has a copy for each, one after the other.
    blocks = first.layout.blocks
    copies = [np.array([len(names) if n in own else 1 for n in one.names]) for one in blocks]
    repeated = tuple(
        replace(block, rules=tuple(np.repeat(np.array(block.rules, dtype=object), n)))
        for block, n in zip(blocks, copies, strict=True)
    )
    columns = np.repeat(first.layout.columns, np.concatenate(copies))
    whole = replace(first, layout=ResponseLayout(repeated, tuple(columns.tolist())))

    # The copies of each group, among those in each block.
    every = range(len(names))
    rows = [[np.cumsum(n) - n + np.where(n > 1, group, 0) for n in copies] for group in every]

    def of_group(items: Sequence[Floats], group: int) -> tuple[Floats, ...]:
        """Return the parameters of a group among those of the copies in each block."""
        return tuple(
            block.rows(part)[of_block].reshape(-1) if n.max() > 1 else part
            for part, block, of_block, n in zip(items, repeated, rows[group], copies, strict=True)
        )

    places = whole.layout.parts(np.arange(whole.layout.size, dtype=np.float64))
    expectations = []
    for number, one in enumerate(models):
        each = zip(places, rows[number], strict=True)
        at = np.concatenate([part[of_block].reshape(-1) for part, of_block in each]).astype(np.intp)
        expectations.append(GroupExpectation(one.expectation(data, asked, positions == number), at))
    skills = tuple([one.skills for one in models])
    ascent = BankAscent(whole.layout, skills, tuple(expectations))

    def start(number: int) -> Parameters:
        items, tables = first.start(number, asked)
        of_copies = [
            block.rows(part)[np.repeat(np.arange(len(n)), n)].reshape(-1) if n.max() > 1 else part
            for part, block, n in zip(items, blocks, copies, strict=True)
        ]
        return Parameters(tuple(of_copies), tables * len(names))

    alone, usual = replace(asked, workers=1), usual_starts(bank)
    climbs, early = all_climbs(ascent, start, alone, usual, progress)
    record = LearningRecord.of(climbs, asked.seed, stopped_early=early)
    found = whole.oriented(climbs[record.best_start].parameters)
    parameters = [
        Parameters(of_group(found.items, number), tables)
        for number, tables in enumerate(ascent.split(found.skills))
    ]
    of_items = whole.n_parameters - whole.skills.n_parameters
    return LearnedGroups(
        groups=names,
        banks=tuple(
            one.bank_of(own, title=bank.title, source=bank.source)
            for one, own in zip(models, parameters, strict=True)
        ),
        sizes=tuple(np.bincount(positions).tolist()),
        n_parameters=of_items + sum(one.skills.n_parameters for one in models),
        record=record,
        parameters=found,
    )


def options_of_later_groups(bank: ItemBank, options: LearningOptions) -> LearningOptions | None:
    """Return the options for the groups after the first; None if they are the same.

    The mean and the deviation of one ability are learned in them.
    """
    if not has_curves(bank):
        return None
    abilities = frozenset(bank.skills)
    return replace(
        options,
        fixed=options.fixed - abilities,
        scaled=options.scaled - abilities,
        moved=options.moved | abilities,
    )


@dataclass(frozen=True, eq=False)
class GroupExpectation:
    """The E-step of a group, whose chances are some of all."""

    expectation: Expectation
    places: NDArray[np.intp]
    """The places of the group's response probabilities among all."""

    def __call__(self, response_parameters: Floats, tables: tuple[Floats, ...]) -> Expected:
        """Return the expected counts, at the places of the group; see `Expectation`."""
        found = self.expectation(response_parameters[self.places], tables)
        counts = np.zeros(len(response_parameters))
        counts[self.places] = found.counts
        return found._replace(counts=counts)


def group_positions(
    groups: Sequence[object], n_examinees: int
) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Return the names of the groups, sorted, and the number of each examinee's group.

    Raises
    ------
    InvalidArgumentError
        If there are not as many groups as examinees, fewer than two, or a group is too small.
    """
    texts = [str(group) for group in groups]
    if len(texts) != n_examinees:
        raise InvalidArgumentError(
            f"expected the group of each of the {n_examinees:,} examinees, got {len(texts):,}",
            len(texts),
        )
    names, positions, sizes = np.unique(texts, return_inverse=True, return_counts=True)
    small = [str(name) for name, size in zip(names, sizes, strict=True) if size < _FEWEST]
    if len(names) < 2 or small:
        of = f"groups of one examinee: {', '.join(small[:5])}" if small else shown(str(names[0]))
        raise InvalidArgumentError(
            f"expected two or more groups of at least {_FEWEST} examinees, got {of}", of
        )
    return tuple(names.tolist()), positions.reshape(-1).astype(np.intp)


# --- Differential item functioning ----------------------------------------------------------------

_PURIFICATIONS = 50
"""The most rounds of purification."""

_KEPT = 200
"""The most models that are kept for further rounds."""


@dataclass(frozen=True, kw_only=True)
class ItemFunctioning(Value):
    """The test whether an item functions alike in all groups."""

    item: str
    """The name of the item."""
    statistic: float
    """Twice the gain of the log-likelihood."""
    degrees: int
    """The degrees of freedom of the test."""
    p_value: float
    """Corrected for the number of items that are tested."""
    differences: tuple[float, ...]
    """For each group that answered it but the first, the difference of the expected score (0 to 1)
    from the first group, for examinees of the same profile, averaged over the profiles of both."""
    anchors: tuple[str, ...]
    """The items with the same parameters in all groups, whether or not the item has its own."""


@dataclass(frozen=True, kw_only=True)
class FunctioningOptions(Value):
    """Which items are tested, and against which others.

    Raises
    ------
    InvalidArgumentError
        If ``anchors`` is empty, or ``alpha`` is not between 0 and 1.
    """

    items: Sequence[str] | None = None
    """The items to test; by default all that were answered in two groups, have parameters of
    their own, and are not fixed."""
    anchors: Annotated[Sequence[str], MinLen(1)] | None = None
    """The items that are taken to function alike in all groups; by default all but the item that
    is tested."""
    purify: bool = False
    """Whether to take the item that functions most differently out of the anchors, and to test
    all again, until the anchors stay the same. Items that then function alike come back."""
    alpha: Annotated[float, Gt(0), Lt(1)] = 0.05
    """An item leaves the anchors if its corrected p is smaller."""


@checked
def item_functioning(
    responses: Responses | pandas.DataFrame | ArrayLike,
    model: ItemBank | QMatrix | pandas.DataFrame | ArrayLike,
    groups: Sequence[object] | None = None,
    *,
    testing: FunctioningOptions | None = None,
    gate: str | Callable[..., ResponseModel] = Dina,
    skills: ProfileDistribution | Network | None = None,
    options: LearningOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ItemFunctioning, ...]:
    """Test each item for differential functioning between groups, by likelihood ratios.

    Parameters
    ----------
    responses, model, gate, skills, options
        As for `bnmind.adaptive.learn`.
    groups
        The group of each examinee; by default those of the responses.
    testing
        Which items are tested, and against which anchors.
    progress
        Called after each item with the number of tested items and of all, in this round and the
        ones before.

    Raises
    ------
    InvalidArgumentError
        As for `learn_groups`, or if an item cannot be tested.
    UnknownNameError
        If an item is unknown.
    """
    test = testing or FunctioningOptions()
    bank, data = learning_inputs(responses, model, gate, skills)
    given = data.groups if groups is None else groups
    names, positions = group_positions(given, len(data))
    asked = options or LearningOptions()
    seen = {
        item: tuple(
            name
            for number, name in enumerate(names)
            if answers[positions == number].max() != MISSING
        )
        for item, answers in zip(bank.item_names, data.codes.T, strict=True)
    }
    shared = [
        item.name
        for item in bank.items
        if len(seen[item.name]) > 1
        and item.name not in asked.fixed
        and not isinstance(item.gate, SkillEffects)
    ]
    chosen = _items_asked_for(bank, shared, test)
    models = _Models(bank=bank, data=data, groups=(names, positions), options=asked, seen=seen)
    free = frozenset[str]() if test.anchors is None else frozenset(shared).difference(test.anchors)
    done = 0
    known: list[frozenset[str]] = []
    while True:
        found = []
        for name in chosen:
            found.append(models.tested(name, free))
            done += 1
            if progress is not None:
                progress(done, len(chosen) * (len(known) + 1))
        results = _corrected(found)
        known.append(free)
        if not test.purify:
            return results
        after = _purified(results, free, test)
        if after in known or len(known) > _PURIFICATIONS or after >= set(bank.item_names):
            return results
        free = after


def _items_asked_for(
    bank: ItemBank, shared: Sequence[str], test: FunctioningOptions
) -> Sequence[str]:
    """Return the items to test."""
    for name in (*(test.items or ()), *(test.anchors or ())):
        bank.position(name)
    for name in test.items or ():
        if name not in shared:
            raise InvalidArgumentError(
                f"{name} cannot be tested: its parameters are fixed, belong to other items too, or"
                " it was answered in one group only",
                name,
            )
    chosen = shared if test.items is None else test.items
    if not chosen:
        raise InvalidArgumentError(
            "no item can be tested: none with parameters of its own was answered in two groups",
            chosen,
        )
    return chosen


def _purified(
    results: Sequence[ItemFunctioning], free: frozenset[str], test: FunctioningOptions
) -> frozenset[str]:
    """Return the items that are no anchors in the next round."""
    marked = [one for one in results if one.p_value < test.alpha]
    # Items with few anchors look different if others are, so one leaves them at a time.
    new = [one for one in marked if one.item not in free]
    worst = {min(new, key=lambda one: (one.p_value, -one.statistic)).item} if new else set()
    untested = free.difference(one.item for one in results)
    return untested | free.intersection(one.item for one in marked) | worst


def _corrected(found: Sequence[ItemFunctioning]) -> tuple[ItemFunctioning, ...]:
    p_values = holm(np.array([one.p_value for one in found])).tolist()
    return tuple(replace(one, p_value=p) for one, p in zip(found, p_values, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Models:
    """The models in which some items have parameters of their own in each group."""

    bank: ItemBank
    data: Responses
    groups: tuple[tuple[str, ...], NDArray[np.intp]]
    options: LearningOptions
    seen: Mapping[str, Sequence[str]]
    """The groups that answered each item."""
    learned: dict[frozenset[str], LearnedGroups] = field(default_factory=dict)

    def tested(self, name: str, free: frozenset[str]) -> ItemFunctioning:
        """Return the test of an item while some others have parameters of their own.

        Its p-value is not corrected.
        """
        from scipy.stats import chi2

        smaller, larger = self.model(free - {name}), self.model(free | {name})
        gain = max(2 * (larger.log_likelihood - smaller.log_likelihood), 0.0)
        # Groups without answers have parameters that nothing depends on.
        more, seen = larger.n_parameters - smaller.n_parameters, self.seen[name]
        degrees = more * (len(seen) - 1) // (len(self.groups[0]) - 1)
        return ItemFunctioning(
            item=name,
            statistic=gain,
            degrees=degrees,
            p_value=float(chi2.sf(gain, degrees)) if degrees > 0 else math.nan,
            differences=_differences([larger[group] for group in seen], name),
            anchors=tuple(item for item in self.bank.item_names if item not in free | {name}),
        )

    def model(self, free: frozenset[str]) -> LearnedGroups:
        """Return the model in which some items have parameters of their own in each group."""
        if free in self.learned:
            return self.learned[free]
        bank, options = self.bank, self.options
        if free:
            bank, options = self.model(frozenset()).banks[0], replace(options, starts=1)
        found = _learned_groups(bank, self.data, self.groups, options, free)
        # Models that are needed once are large, and not kept.
        if not free or len(self.learned) < _KEPT:
            self.learned[free] = found
        return found


def _differences(banks: Sequence[ItemBank], name: str) -> tuple[float, ...]:
    """Return the mean difference of an item's expected score in each bank from the first."""
    scores, weights = [], []
    for bank in banks:
        space, channel = ProfileSpace.table(bank), bank.channel(name)
        _, view = space.item_view(bank.position(name))
        points = np.linspace(0, 1, channel.shape[1])
        scores.append(view.times(np.ones(space.n_cells), channel @ points))
        weights.append(space.prior[0])
    total = np.sum(weights, axis=0)
    return tuple(float(total @ (score - scores[0]) / total.sum()) for score in scores[1:])
