r"""Likelihood-ratio tests of simpler models of the items of a G-DINA model.

The *two-step* test keeps the posterior of the profiles under the G-DINA model:

==================  ======================================================================
symbol              name here
==================  ======================================================================
N_c, R_c            ``counts``: the expected numbers of examinees with configuration c, and of
                    their right responses, given the responses
ℓ(P)                Σ_c R_c ln P_c + (N_c − R_c) ln(1 − P_c)
2 (ℓ(P̂) − ℓ(P̃))     the statistic: P̂ of the G-DINA model, P̃ the most likely of the simpler one
==================  ======================================================================

The *full* test learns the whole model anew with the simpler model of this one item. Either
statistic is compared with a chi-squared distribution; its degrees are the parameters saved.

References
----------
M. Sorrel, J. de la Torre, F. Abad and J. Olea, "Two-step likelihood ratio test for item-level model
comparison in cognitive diagnosis models", Methodology 2017.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from bnmind._arguments import checked
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.learning.fit.reduced_models import (
    REDUCED_MODELS,
    ReducedModel,
    TestedModel,
    designs,
    items_to_test,
    with_choice,
)
from bnmind.adaptive.learning.fit.standard_errors import table_expectation
from bnmind.adaptive.learning.learn import Learned, learn
from bnmind.adaptive.learning.model import block_of, item_rules
from bnmind.adaptive.learning.parameters.block import ItemBlock, ItemRule, PairBlock
from bnmind.adaptive.response_models.base import ResponseModel, made_for_skills
from bnmind.adaptive.response_models.registry import RESPONSE_MODELS
from bnmind.information import Floats
from bnmind.pgm import Network

__all__ = ["reduced_models_by_ratio"]

_ROUNDS = 200
"""The most M-steps for a simpler model; those of one link need one."""

_CLOSE = 1e-9
_EMPTY = 1e-6
"""Configurations with a smaller expected number of examinees save no parameter."""


@checked
def reduced_models_by_ratio(
    learned: Learned,
    *,
    alpha: float = 0.05,
    refit: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ReducedModel, ...]:
    """Return likelihood-ratio tests of all items with a G-DINA model of two or more binary skills.

    Parameters
    ----------
    learned
        A learned bank; items with other models are left out.
    alpha
        A simpler model is rejected if p is smaller.
    refit
        Whether to learn the whole model anew for each item and each simpler model. By default the
        posterior of the profiles stays that of the G-DINA model (two-step test), which is much
        faster.
    progress
        Called after each item with the number of tested items and of all.

    Raises
    ------
    InvalidArgumentError, TooLargeError
        As for `reduced_models`.

    Examples
    --------
    >>> from bnmind.adaptive import Examinees, Gdina, ItemBank, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> seen = Examinees.drawn(ItemBank.from_qmatrix(q, 0.1, 0.1), 1000, seed=1).responses
    >>> found = reduced_models_by_ratio(learn(seen, q, gate=Gdina))
    >>> [(item.item, item.method, item.chosen) for item in found]
    [('item_3', 'two-step likelihood ratio', 'dina'), ('item_6', 'two-step likelihood ratio', \
'dina')]
    """
    tested = items_to_test(learned, alpha)
    counts = _counts(learned)
    rules = {rule.name: rule for rule in item_rules(learned.model.bank, learned.options)}
    found = {}
    for number, (name, n_skills) in enumerate(tested.items(), 1):
        rule, cells = rules[name], counts[name]
        own = block_of(rule, learned.options)
        assert own is not None
        full = _likelihood(own, own.maximize(own.start(), cells[None]), cells)
        used = cells.sum(axis=1) > _EMPTY
        row = []
        for model in REDUCED_MODELS:
            degrees = int(used.sum() - np.linalg.matrix_rank(designs(n_skills)[model][used]))
            block = _simpler(rule, model, learned)
            values = _most_likely(block, cells)
            loss = full - _likelihood(block, values, cells)
            if refit:
                gate = block.response_models(values)[0]
                if not isinstance(gate, RESPONSE_MODELS[model].make):
                    # More skill lowers the chance, which no such model holds: start in between.
                    gate = _made(model, rule, 0.45)
                bank = _with_gate(learned.bank, name, gate)
                options = dataclasses.replace(learned.options, starts=1, workers=1)
                again = learn(learned.responses, bank, options=options)
                loss = learned.log_likelihood - again.log_likelihood
            statistic = 2 * max(loss, 0.0) if degrees else float("nan")
            row.append(TestedModel(model, statistic, degrees))
        found[name] = row
        if progress is not None:
            progress(number, len(tested))
    return with_choice("likelihood ratio" if refit else "two-step likelihood ratio", found, alpha)


def _counts(learned: Learned) -> dict[str, Floats]:
    """Return the expected numbers of examinees, ``(configurations, responses)``, by item."""
    layout = learned.model.layout
    chances = layout.response_parameters(learned.parameters.items)
    expected = table_expectation(learned)(chances, learned.parameters.skills)
    found = {}
    for block, part in zip(layout.blocks, layout.parts(expected.counts), strict=True):
        for name, groups, of_item in zip(block.names, block.groups, part, strict=True):
            found[name] = of_item[: len(groups)]
    return found


def _made(model: str, rule: ItemRule, chance: float) -> ResponseModel:
    """Return a simpler model of an item with a chance of guesses and slips."""
    n, make = len(rule.parents), RESPONSE_MODELS[model].make
    return made_for_skills(make, (1,) * n, (2,) * n, guess=chance, slip=chance)


def _simpler(rule: ItemRule, model: str, learned: Learned) -> ItemBlock:
    """Return the block of an item with a simpler model."""
    block = block_of(dataclasses.replace(rule, model=_made(model, rule, 0.2)), learned.options)
    assert block is not None
    if isinstance(block, PairBlock):
        block = dataclasses.replace(block, monotone=learned.options.monotone)
    return block


def _in_groups(block: ItemBlock, cells: Floats) -> Floats:
    """Return counts of configurations as counts of the block's groups, ``(1, groups, 2)``."""
    found = np.zeros((1, *block.shape))
    np.add.at(found[0], block.groups[0], cells)
    return found


def _most_likely(block: ItemBlock, cells: Floats) -> Floats:
    counts, values = _in_groups(block, cells), block.start()
    best = _likelihood(block, values, cells)
    for _ in range(_ROUNDS):
        values = block.maximize(values, counts)
        before, best = best, _likelihood(block, values, cells)
        if best <= before + _CLOSE:
            break
    return values


def _likelihood(block: ItemBlock, values: Floats, cells: Floats) -> float:
    """Return ℓ of the configurations."""
    chances = block.response_parameters(values)[0][block.groups[0]]
    return float((cells * np.log(np.maximum(chances, 1e-300))).sum())


def _with_gate(bank: ItemBank, name: str, gate: ResponseModel | None) -> ItemBank:
    """Return a bank with another response model of an item."""
    assert gate is not None
    old = bank.network.cpd(name)
    new = gate.cpd(old.variable, old.parents)
    cpds = tuple(new if cpd.variable.name == name else cpd for cpd in bank.network.cpds)
    items = tuple(
        dataclasses.replace(item, gate=gate) if item.name == name else item for item in bank.items
    )
    return dataclasses.replace(bank, network=Network(cpds), items=items)
