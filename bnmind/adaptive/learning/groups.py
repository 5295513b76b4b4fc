"""Learning a bank from several groups of examinees at once.

The items have the same parameters in all groups; each group has a distribution of the skills of its
own. The E-step is that of each group; the M-step of the items uses the counts of all.

The scale of one ability is that of the first group, whose ability is as in the options, such as
normal with mean 0 and deviation 1. The means and deviations of the other groups are learned.

References
----------
R. Bock and M. Zimowski, "Multiple group IRT", in *Handbook of Modern Item Response Theory*, 1997;
X. Xu and M. von Davier, "Comparing multiple-group multinomial log-linear models for
multidimensional skill distributions in the general diagnostic model", ETS RR-08-35, 2008.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, shown
from bnmind._values import Value
from bnmind.adaptive.beliefs.estimates import (
    ability_deviation,
    expected_ability,
    start_belief,
)
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.skill_distributions import ProfileDistribution
from bnmind.adaptive.learning.em import (
    BankAscent,
    Parameters,
    all_climbs,
    usual_starts,
)
from bnmind.adaptive.learning.irt import has_curves
from bnmind.adaptive.learning.learn import LearningModel
from bnmind.adaptive.learning.model import learning_inputs
from bnmind.adaptive.learning.options import LearningOptions
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.gates import Dina
from bnmind.adaptive.responses.responses import Responses
from bnmind.errors import InvalidArgumentError
from bnmind.fitting.em import LearningRecord
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
    names, positions = group_positions(data.groups if groups is None else groups, len(data))
    later = options_of_later_groups(bank, asked)
    if later is None and set(asked.fixed) >= {v.name for v in bank.hidden}:
        raise InvalidArgumentError(
            "all hidden variables are fixed, so that groups cannot differ in them: differences of"
            " the groups would be taken for differences of the items",
            tuple(sorted(asked.fixed)),
        )
    layout = LearningModel.of(bank, asked)
    other = layout if later is None else LearningModel.of(bank, later)
    models = [layout, *[other] * (len(names) - 1)]
    ascent = BankAscent(
        layout.layout,
        tuple([one.skills for one in models]),
        tuple([one.expectation(data, asked, positions == n) for n, one in enumerate(models)]),
    )

    def start(number: int) -> Parameters:
        items, tables = layout.start(number, asked)
        return Parameters(items, tables * len(names))

    alone = replace(asked, workers=1)
    climbs, early = all_climbs(ascent, start, alone, usual_starts(bank), progress)
    record = LearningRecord.of(climbs, asked.seed, stopped_early=early)
    found = layout.oriented(climbs[record.best_start].parameters)
    of_items = layout.n_parameters - layout.skills.n_parameters
    return LearnedGroups(
        groups=names,
        banks=tuple(
            one.bank_of(Parameters(found.items, tables), title=bank.title, source=bank.source)
            for one, tables in zip(models, ascent.split(found.skills), strict=True)
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
