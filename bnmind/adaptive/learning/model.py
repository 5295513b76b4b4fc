"""The parameters to learn: blocks of items and families of skills."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bnmind._messages import listed
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.qmatrix import QMatrix, bank_parts, skill_levels
from bnmind.adaptive.items.skill_distributions import Independent, ProfileDistribution, Saturated
from bnmind.adaptive.learning.parameters.block import FixedBlock, ItemBlock, ItemRule, PairBlock
from bnmind.adaptive.learning.parameters.curves.block import CURVES, CurveBlock, curve_blocks
from bnmind.adaptive.learning.parameters.gdina import TableBlock
from bnmind.adaptive.learning.parameters.main_effects import EffectsBlock, SharedBlock
from bnmind.adaptive.learning.parameters.noisy import NoisyBlock
from bnmind.adaptive.learning.parameters.options import Bounds, LearningOptions
from bnmind.adaptive.learning.parameters.parametric import ParametricBlock
from bnmind.adaptive.learning.parameters.sequential import StepsBlock
from bnmind.adaptive.response_models.additive.effects import (
    ItemEffects,
    MainEffects,
    SkillEffects,
)
from bnmind.adaptive.response_models.base.model import ResponseModel, response_channel
from bnmind.adaptive.response_models.dina import Dina
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.adaptive.response_models.guess_slip import GuessSlip
from bnmind.adaptive.response_models.noisy_skills import NoisySkills
from bnmind.adaptive.response_models.parametric import ParametricModel
from bnmind.adaptive.response_models.registry import gate_of
from bnmind.adaptive.response_models.sequential import Sequential, StepsOf
from bnmind.adaptive.response_models.tabulated import Tabulated
from bnmind.errors import InvalidArgumentError, InvalidModelError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm import Network, Variable

if TYPE_CHECKING:
    import pandas

__all__ = ["SATURATED_SKILLS", "bank_to_learn", "item_blocks", "item_rules"]

SATURATED_SKILLS = 12
"""By default up to this many skills have a saturated distribution; more are independent."""

_START = 0.2, 0.2
"""The first guess and slip: those of `din` in the R package CDM (A. George, A. Robitzsch, T.
Kiefer, J. Groß and A. Ünlü, J. Stat. Softw. 2016), so that both programs reach the same of
several maxima."""


def bank_to_learn(
    model: ItemBank | QMatrix | pandas.DataFrame | ArrayLike,
    gate: str | Callable[..., ResponseModel],
    skills: ProfileDistribution | Network | None,
    n_responses: Mapping[str, int] | None = None,
) -> ItemBank:
    """Return the bank whose parameters are the first start.

    Parameters
    ----------
    model
        A bank; or a Q-matrix, as for `ItemBank.from_qmatrix`.
    gate
        A class of response models or its name, or a function that makes one from a guess and a
        slip.
    skills
        The distribution of the skills.
    n_responses
        For `Sequential`, the number of responses to each item; default 2.
    """
    gate = gate_of(gate)
    if isinstance(model, ItemBank):
        if gate is not Dina or skills is not None:
            raise InvalidArgumentError("gate and skills are for a Q-matrix; a bank has its own")
        return model
    q = model if isinstance(model, QMatrix) else QMatrix.of(model)
    if skills is None:
        skills = Saturated() if len(q.skills) <= SATURATED_SKILLS else Independent()
    levels = skill_levels(q, skills, (q.needs.max(axis=0) + 1).tolist())
    models = q.response_models(*_START, gate, levels=levels)
    if n_responses and (gate is Sequential or isinstance(gate, StepsOf)):
        numbers = [n_responses.get(name, 2) for name in q.item_names]
        models = tuple(
            Sequential((model,) * (n - 1)) if n > 2 else model
            for model, n in zip(models, numbers, strict=True)
        )
    return ItemBank(*bank_parts(q, models, skills, levels))


def item_rules(bank: ItemBank, options: LearningOptions) -> tuple[ItemRule, ...]:
    """Return the rule of each item.

    Raises
    ------
    UnknownNameError
        If a fixed or bounded name is unknown.
    InvalidArgumentError
        If bounds contradict the order of the chances of success.
    """
    known = {*bank.item_names, *(v.name for v in bank.hidden)}
    for name in sorted(set(options.fixed) - known):
        raise UnknownNameError("item or skill", name, sorted(known))
    hidden = {v.name for v in bank.hidden}
    for name in sorted({*options.scaled, *options.moved} - hidden):
        raise UnknownNameError("ability", name, sorted(hidden))
    if not isinstance(options.bounds, Bounds):
        for name in options.bounds:
            bank.position(name)
    rules, problems = [], []
    for item in bank.items:
        parents = bank.network.cpd(item.name).parents
        ordered = tuple(v.name in bank.skills for v in parents)
        channel = _channel(bank, item.name, parents)
        bounds = options.bounds_of(item.name)
        if options.monotone:
            bounds = replace(bounds, slope=tuple(np.maximum(bounds.slope, 0.0).tolist()))
        rules.append(
            ItemRule(
                name=item.name,
                model=item.gate,
                parents=parents,
                channel=channel,
                bounds=bounds,
                ordered=ordered,
                least=options.least_chance,
            )
        )
        may_fall = item.gate is None or isinstance(item.gate, GuessSlip | Gdina)
        may_fall |= isinstance(item.gate, MainEffects) and not item.gate.always_rises
        if bounds.guess[0] + bounds.slip[0] > 1 and (options.monotone or not may_fall):
            problems.append(
                f"the least guess and the least slip of item {item.name} must sum to at most 1,"
                f" got {bounds.guess[0]} and {bounds.slip[0]}"
            )
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
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
        If the response model of an item cannot be learned.
    """
    pairs: list[ItemRule] = []
    effects: dict[tuple[object, ...], list[ItemRule]] = {}
    curves: list[ItemRule] = []
    blocks: list[ItemBlock] = []
    problems = []
    for rule in item_rules(bank, options):
        if rule.name in options.fixed:
            blocks.append(FixedBlock(rule))
        elif isinstance(rule.model, GuessSlip):
            pairs.append(rule)
        elif isinstance(rule.model, SkillEffects):
            effects.setdefault((type(rule.model),), []).append(rule)
        elif isinstance(rule.model, ItemEffects):
            effects.setdefault((type(rule.model), len(rule.parents)), []).append(rule)
        elif isinstance(rule.model, CURVES):
            curves.append(rule)
        else:
            block = block_of(rule, options)
            if block is None:
                problems.append(_why_not(rule))
            else:
                blocks.append(block)
    if problems:
        raise InvalidModelError(problems)
    blocks += [effects_block(tuple(rules), options) for rules in effects.values()]
    blocks += curve_blocks(curves, options.priors)
    if pairs:
        blocks.insert(0, PairBlock(tuple(pairs), options.priors, options.monotone))
    return tuple(blocks)


def _why_not(rule: ItemRule) -> str:
    """Return why the response model of an item cannot be learned."""
    if isinstance(rule.model, Tabulated):
        name = rule.model.name
        return (
            f"item {rule.name} has your response model {name}, of which files hold the table only:"
            f" learn from the Q-matrix with gate={name}, or name the item in options.fixed"
        )
    return (
        f"the response model of item {rule.name} cannot be learned: {rule.model!r};"
        " a ParametricModel can"
    )


def effects_block(rules: tuple[ItemRule, ...], options: LearningOptions) -> ItemBlock:
    """Return the block of items with main effects."""
    shared = isinstance(rules[0].model, SkillEffects)
    return (SharedBlock if shared else EffectsBlock)(rules, options.priors, options.monotone)


def block_of(rule: ItemRule, options: LearningOptions) -> ItemBlock | None:
    """Return the block of one item; None if its response model cannot be learned."""
    model, priors = rule.model, options.priors
    if model is None or isinstance(model, Gdina):
        return TableBlock(rule, priors, options.monotone)
    if isinstance(model, GuessSlip):
        # A step cannot become a table, so the order always holds.
        return PairBlock((rule,), priors)
    if isinstance(model, NoisySkills):
        return NoisyBlock(rule, priors)
    if isinstance(model, MainEffects):
        return effects_block((rule,), options)
    if isinstance(model, CURVES):
        return CurveBlock((rule,), priors)
    if isinstance(model, ParametricModel):
        return ParametricBlock(rule)
    if isinstance(model, Sequential):
        steps = []
        for step in model.steps:
            part = ItemRule(
                name=rule.name,
                model=step,
                parents=rule.parents,
                channel=response_channel(step, rule.parents),
                bounds=rule.bounds,
                ordered=rule.ordered,
                least=rule.least,
            )
            steps.append(block_of(part, options))
        known_steps = [step for step in steps if step is not None]
        return StepsBlock(rule, tuple(known_steps)) if len(known_steps) == len(steps) else None
    return None
