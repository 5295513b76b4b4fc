"""Zero compression: several variables become one, whose states are their possible configurations.

Only exact zeros are compressed (Jensen & Andersen, *Approximations in Bayesian belief universes for
knowledge-based systems*, 1990). The candidates are the variables of a table that is known to have
zeros, or of a target. Variables that are functions of the compound variable join it, so a joint
distribution of causes and their consequences becomes a table over the causes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bnmind.junction.reduction.reduced_model import Reduction, Table, with_compound
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

__all__ = ["compounds"]

_MOST_STATES = 2**18
"""The most configurations of a target that becomes one variable."""


def compounds(
    model: Reduction,
    given: Sequence[tuple[tuple[Variable, ...], Values]],
    targets: Sequence[tuple[Variable, ...]],
    observed: frozenset[str],
) -> list[Reduction]:
    """Return models with possible configurations of several variables as compound ones.

    Parameters
    ----------
    model
        The initial model.
    given
        Tables over variables of the original model whose zeros are known. Without such tables,
        the first target that is small enough is used.
    targets
        The variables of each target.
    observed
        Evidence variables, whose states each run takes; they are not merged.
    """
    wholes = [([v.name for v in scope], values) for scope, values in given]
    wholes = [whole for whole in wholes if not model.take(*whole).values.all()]
    if not wholes:
        for target in targets:
            scope = model.scope(v.name for v in target)
            if math.prod([model.sizes[name] for name in scope]) <= _MOST_STATES:
                shape = [v.n_states for v in target]
                wholes = [([v.name for v in target], np.broadcast_to(np.ones(()), shape))]
                break
    result = []
    for names, values in wholes:
        # An earlier table may have merged some of its variables.
        whole = model.take(names, values)
        if len(whole.scope) < 2 or not observed.isdisjoint(whole.scope):
            continue
        label = "+".join(whole.scope)
        while label in model.sizes or label in model.lifts:
            label += "+"
        model = with_compound(model, whole, label)
        result.append(model)
        while joining := _determined_by(model, label, observed):
            model = with_compound(model, joining, label)
        result.append(_multiplied(model, label))
    return result


def _multiplied(model: Reduction, label: str) -> Reduction:
    """Return the model with all tables over only a compound variable multiplied into one."""
    alone = [content.values for content in model.tables if content.scope == (label,)]
    if not alone:
        return model
    rest = tuple(content for content in model.tables if content.scope != (label,))
    product = Table((label,), math.prod(alone[1:], start=alone[0]))
    return replace(model, tables=(product, *rest))


def _determined_by(model: Reduction, label: str, observed: frozenset[str]) -> Table | None:
    """Return a table whose other variables a compound variable determines, if there is one."""
    for content in model.tables:
        together = label in content.scope and len(content.scope) > 1
        if not together or not observed.isdisjoint(content.scope):
            continue
        if np.count_nonzero(content.values) <= model.sizes[label]:
            return content
    return None
