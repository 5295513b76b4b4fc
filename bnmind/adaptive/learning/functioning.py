"""Differential item functioning: items that behave otherwise in another group.

The items are learned for all groups together, with the skills of each group; then each item is
learned once more with parameters of its own in each group, all other items in common. Twice the
gain of the log-likelihood is chi-squared with as many degrees of freedom as there are new
parameters. The p-values are corrected for the number of items (Holm 1979).

The other items are *anchors*: they make the skills of the groups comparable. If some items are
named as anchors, or if the anchors are purified, items that are no anchors have parameters of
their own in each group throughout.

References
----------
D. Thissen, L. Steinberg and H. Wainer, "Detection of differential item functioning using the
parameters of item response models", in *Differential Item Functioning*, 1993 (all other items as
anchors); L. Hou, J. de la Torre and R. Nandakumar, "Differential item functioning assessment in
cognitive diagnostic modeling", J. Educ. Meas. 2014; R. P. Chalmers, J. Stat. Softw. 2012 (function
``DIF`` of the R package mirt, for one ability); G. Candell and F. Drasgow, "An iterative procedure
for linking metrics and assessing item bias in item response theory", Appl. Psychol. Meas. 1988
(purification).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Gt, Lt, MinLen
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.beliefs.tables import ProfileSpace
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.skill_distributions import ProfileDistribution
from bnmind.adaptive.learning.groups import LearnedGroups, group_positions, learn_groups
from bnmind.adaptive.learning.item_tests import holm
from bnmind.adaptive.learning.model import learning_inputs
from bnmind.adaptive.learning.options import Bounds, LearningOptions
from bnmind.adaptive.response_models.additive import SkillEffects
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.gates import Dina
from bnmind.adaptive.responses.responses import Responses
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.pgm import Network, TabularCPD, Variable

if TYPE_CHECKING:
    import pandas

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
    members = {name: positions == number for number, name in enumerate(names)}
    seen = {
        item: tuple(name for name, own in members.items() if answers[own].max() != MISSING)
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
    models = _Models(bank=bank, data=data, given=given, members=members, options=asked, seen=seen)
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
    return tuple(
        dataclasses.replace(one, p_value=p) for one, p in zip(found, p_values, strict=True)
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Models:
    """The models in which some items have parameters of their own in each group."""

    bank: ItemBank
    data: Responses
    given: Sequence[object]
    members: Mapping[str, NDArray[np.bool_]]
    """Who is in each group."""
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
        degrees = larger.n_parameters - smaller.n_parameters
        return ItemFunctioning(
            item=name,
            statistic=gain,
            degrees=degrees,
            p_value=float(chi2.sf(gain, degrees)) if degrees > 0 else np.nan,
            differences=_differences(larger, name, self.seen[name]),
            anchors=tuple(item for item in self.bank.item_names if item not in free | {name}),
        )

    def model(self, free: frozenset[str]) -> LearnedGroups:
        """Return the model in which some items have parameters of their own in each group."""
        if free in self.learned:
            return self.learned[free]
        if not free:
            found = learn_groups(self.data, self.bank, self.given, options=self.options)
        else:
            options = dataclasses.replace(self.options, starts=1)
            bank, data = self.model(frozenset()).banks[0], self.data
            for name in sorted(free, key=self.bank.item_names.index):
                copies = {_copy(name, group): self.members[group] for group in self.seen[name]}
                bank, data = _apart(bank, data, name, copies)
                options = _for_copies(options, name, copies)
            found = learn_groups(data, bank, self.given, options=options)
        # Models that are needed once are large, and not kept.
        if len(free) == 0 or len(self.learned) < _KEPT:
            self.learned[free] = found
        return found


def _copy(name: str, group: str) -> str:
    return f"{name} in {group}"


def _for_copies(options: LearningOptions, name: str, copies: Iterable[str]) -> LearningOptions:
    """Return the options with the bounds of an item for its copies."""
    if isinstance(options.bounds, Bounds) or name not in options.bounds:
        return options
    bounds = {item: pair for item, pair in options.bounds.items() if item != name}
    bounds |= dict.fromkeys(copies, options.bounds[name])
    return dataclasses.replace(options, bounds=bounds)


def _apart(
    bank: ItemBank, data: Responses, name: str, copies: Mapping[str, NDArray[np.bool_]]
) -> tuple[ItemBank, Responses]:
    """Return a bank with copies of an item, each for some examinees, and the responses."""
    place = bank.position(name)
    cpd = bank.network.cpd(name)
    table = np.real(cpd.to_factor().transpose([v.name for v in cpd.scope]).values)
    cpds = [one for one in bank.network.cpds if one.variable.name != name]
    rows = [item for item in bank.items if item.name != name]
    columns = [np.delete(data.codes, place, axis=1)]
    for copy, members in copies.items():
        variable = Variable(copy, cpd.variable.states)
        cpds.append(TabularCPD(variable, cpd.parents, table))
        rows.append(dataclasses.replace(bank.items[place], name=copy, enemies=()))
        own = np.where(members, data.codes[:, place], MISSING)
        columns.append(own[:, None].astype(data.codes.dtype))
    kept = tuple(
        dataclasses.replace(row, enemies=tuple(e for e in row.enemies if e != name)) for row in rows
    )
    apart = ItemBank(
        network=Network(tuple(cpds)), skills=bank.skills, items=kept, labels=bank.labels
    )
    codes = np.concatenate(columns, axis=1)
    return apart, Responses(codes, tuple(row.name for row in kept), data.examinees)


def _differences(alone: LearnedGroups, name: str, seen: Sequence[str]) -> tuple[float, ...]:
    """Return the mean difference of the expected score of each group from the first."""
    scores: list[Floats] = []
    weights: list[Floats] = []
    for group in seen:
        bank, copy = alone[group], _copy(name, group)
        space = ProfileSpace.table(bank)
        channel = bank.channel(copy)
        score = channel @ np.linspace(0, 1, channel.shape[1])
        levels = np.indices(space.shape).reshape(len(space.shape), -1)
        parents = bank.network.cpd(copy).parents
        sizes = [v.n_states for v in parents]
        places = np.ravel_multi_index([levels[space.place[v.name]] for v in parents], sizes)
        scores.append(score[places])
        weights.append(space.prior[0])
    total = np.sum(weights, axis=0)
    return tuple(float(total @ (score - scores[0]) / total.sum()) for score in scores[1:])
