"""What is to be learned: a bank's items in blocks, its skills in families."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.irt import GradedResponse, Logistic
from bnmind.adaptive.items.qmatrix import QMatrix, bank_parts
from bnmind.adaptive.items.response_models import (
    Dina,
    Dino,
    FreeTable,
    Gate,
    Graded,
    NoisyAnd,
    NoisyOr,
    Sequential,
    gate_channel,
)
from bnmind.adaptive.items.skill_distributions import Independent, ProfileDistribution, Saturated
from bnmind.adaptive.learning.parameters.block import FixedBlock, ItemBlock, ItemRule, PairBlock
from bnmind.adaptive.learning.parameters.free_table import TableBlock
from bnmind.adaptive.learning.parameters.logistic import CurveBlock
from bnmind.adaptive.learning.parameters.noisy_gates import NoisyBlock
from bnmind.adaptive.learning.parameters.options import Bounds, LearningOptions
from bnmind.adaptive.learning.parameters.sequential import StepsBlock
from bnmind.errors import InvalidModelError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm import Network, Variable

if TYPE_CHECKING:
    import pandas

__all__ = ["SATURATED_SKILLS", "bank_to_learn", "item_blocks", "item_rules"]

SATURATED_SKILLS = 12
"""Up to so many skills are saturated unless their distribution is given; more, independent."""

_START = 0.2, 0.2
"""The guess and the slip to start with: those of `din` in the R package CDM (A. George, A.
Robitzsch, T. Kiefer, J. Groß and A. Ünlü, J. Stat. Softw. 2016), as the likelihood has several
peaks, and who compares two programs wants to climb the same one."""


def bank_to_learn(
    model: ItemBank | QMatrix | pandas.DataFrame | ArrayLike,
    gate: Callable[..., Gate],
    skills: ProfileDistribution | Network | None,
) -> ItemBank:
    """Return the bank whose parameters are the first start.

    Parameters
    ----------
    model
        A bank; or a Q-matrix, as for `ItemBank.from_qmatrix`.
    gate
        What makes a gate of a guess and a slip; `FreeTable` for tables.
    skills
        How the skills are distributed.
    """
    if isinstance(model, ItemBank):
        if gate is not Dina or skills is not None:
            raise InvalidModelError(
                ["expected a Q-matrix beside a gate or a distribution of skills, got a bank"]
            )
        return model
    q = model if isinstance(model, QMatrix) else QMatrix.of(model)
    if skills is None:
        skills = Saturated() if len(q.skills) <= SATURATED_SKILLS else Independent()
    levels = q.needs.max(axis=0) + 1
    gates: tuple[Gate, ...]
    if gate is FreeTable:
        gates = tuple(_rising(levels[needs > 0]) for needs in q.needs)
    else:
        gates = q.gates(*_START, gate)
    return ItemBank(*bank_parts(q, gates, skills, levels.tolist()))


def _rising(sizes: Any) -> FreeTable:
    """Return a table that rises with the share of the levels from a guess to no slip."""
    levels = np.indices(tuple(sizes)).reshape(len(sizes), -1)
    share = (levels / (np.asarray(sizes)[:, None] - 1)).mean(axis=0)
    right = _START[0] + (1 - _START[1] - _START[0]) * share
    return FreeTable(np.stack([1 - right, right], axis=1))


def item_rules(bank: ItemBank, options: LearningOptions) -> tuple[ItemRule, ...]:
    """Return the rule of each item.

    Raises
    ------
    UnknownNameError
        If what is fixed or bounded is unknown.
    InvalidModelError
        If bounds contradict the order that more skill does not harm.
    """
    known = {*bank.item_names, *(v.name for v in bank.hidden)}
    for name in sorted(set(options.fixed) - known):
        raise UnknownNameError("item or skill", name, sorted(known))
    if not isinstance(options.bounds, Bounds):
        for name in options.bounds:
            bank.position(name)
    rules, problems = [], []
    for item in bank.items:
        parents = bank.network.cpd(item.name).parents
        ordered = tuple(v.name in bank.skills for v in parents)
        channel = _channel(bank, item.name, parents)
        bounds = options.bounds_of(item.name)
        rules.append(
            ItemRule(item.name, item.gate, parents, channel, bounds, ordered, options.least_chance)
        )
        may_fall = item.gate is None or isinstance(item.gate, Dina | Dino | FreeTable)
        if bounds.guess[0] + bounds.slip[0] > 1 and (options.monotone or not may_fall):
            problems.append(
                f"expected a least guess and a least slip of item {item.name} that sum to at most"
                f" 1, got {bounds.guess[0]} and {bounds.slip[0]}"
            )
    if problems:
        raise InvalidModelError(problems)
    return tuple(rules)


def _channel(bank: ItemBank, item: str, parents: tuple[Variable, ...]) -> Floats:
    names = [v.name for v in parents]
    factor = bank.network.cpd(item).to_factor().transpose([item, *names])
    values = np.real(factor.values)
    return np.ascontiguousarray(values.reshape(len(values), -1).T)


def item_blocks(bank: ItemBank, options: LearningOptions) -> tuple[ItemBlock, ...]:
    """Return the items in blocks that are learned by the same rule.

    Raises
    ------
    InvalidModelError
        If an item has a gate that nothing is known of; its table can be learned without.
    """
    pairs: list[ItemRule] = []
    blocks: list[ItemBlock] = []
    problems = []
    for rule in item_rules(bank, options):
        if rule.name in options.fixed:
            blocks.append(FixedBlock(rule))
        elif isinstance(rule.gate, Dina | Dino):
            pairs.append(rule)
        else:
            block = block_of(rule, options)
            if block is None:
                problems.append(
                    f"expected a gate of item {rule.name} that can be learned, got {rule.gate!r}"
                )
            else:
                blocks.append(block)
    if problems:
        raise InvalidModelError(problems)
    if pairs:
        blocks.insert(0, PairBlock(tuple(pairs), options.priors, options.monotone))
    return tuple(blocks)


def block_of(rule: ItemRule, options: LearningOptions) -> ItemBlock | None:
    """Return the block of one item; None if nothing is known of its gate."""
    gate, priors = rule.gate, options.priors
    if gate is None or isinstance(gate, FreeTable):
        return TableBlock(rule, priors, options.monotone)
    if isinstance(gate, Dina | Dino):
        # Within steps there is no table to turn to, so that the order always holds.
        return PairBlock((rule,), priors)
    if isinstance(gate, NoisyAnd | NoisyOr):
        return NoisyBlock(rule, priors)
    if isinstance(gate, Graded | Logistic | GradedResponse):
        return CurveBlock(rule)
    if isinstance(gate, Sequential):
        steps = []
        for step in gate.steps:
            part = ItemRule(
                rule.name,
                step,
                rule.parents,
                gate_channel(step, rule.parents),
                rule.bounds,
                rule.ordered,
                rule.least,
            )
            steps.append(block_of(part, options))
        found = [step for step in steps if step is not None]
        return StepsBlock(rule, tuple(found)) if len(found) == len(steps) else None
    return None
