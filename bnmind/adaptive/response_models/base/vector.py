"""The parameters of a response model as a vector of numbers, for derivatives and draws.

The numbers are the fields of the model that hold real numbers: one, or one for each skill or
threshold. Levels and other whole numbers are no parameters. In place of a difficulty or a threshold
b of a curve with the slope a stands the intercept −a b, which is finite for flat curves too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import Variable

__all__ = [
    "LEAST_SLOPE",
    "model_near",
    "model_table",
    "parameter_names",
    "parameter_vector",
    "with_parameters",
]

LEAST_SLOPE = 1e-12
"""The slope in place of 0 of a curve with difficulties."""

_SHARES = (1.0, 0.75, 0.5, 0.25)
"""The shares of a step that are tried, the whole step first."""


def _numbers(model: ResponseModel) -> list[tuple[str, float | tuple[float, ...]]]:
    if not dataclasses.is_dataclass(model):
        return []
    found: list[tuple[str, float | tuple[float, ...]]] = []
    for field in dataclasses.fields(model):
        value: Any = getattr(model, field.name)
        one_number = isinstance(value, float)
        if one_number or (
            isinstance(value, tuple) and value and all(isinstance(x, float) for x in value)
        ):
            if field.name == getattr(model, "_per_slope", None):
                value = _turned(value, lambda b: b * model.slope)
            found.append((field.name, value))
    return found


def _turned(value: Any, scaled: Callable[[float], float]) -> Any:
    """Return minus a scaled number, or the numbers of a tuple."""
    if isinstance(value, tuple):
        return tuple(0.0 - scaled(x) for x in value)
    return 0.0 - scaled(value)


def parameter_names(model: ResponseModel) -> tuple[str, ...]:
    """Return the names of the parameters; those of a list are numbered.

    >>> from bnmind.adaptive import GradedResponse
    >>> parameter_names(GradedResponse(1.5, (-1.0, 0.0)))
    ('slope', 'thresholds 1', 'thresholds 2')
    """
    names: list[str] = []
    for name, value in _numbers(model):
        several = isinstance(value, tuple)
        names += [f"{name} {n + 1}" for n in range(len(value))] if several else [name]  # type: ignore[arg-type]
    return tuple(names)


def parameter_vector(model: ResponseModel) -> Floats:
    """Return the parameters of a model, ``(parameters,)``."""
    return np.array([x for _, value in _numbers(model) for x in np.atleast_1d(value)], dtype=float)


def with_parameters(model: ResponseModel, numbers: Sequence[float] | Floats) -> ResponseModel:
    """Return a model with other parameters.

    Raises
    ------
    InvalidModelError
        If they are out of range.
    """
    rest = [float(x) for x in numbers]
    values: dict[str, Any] = {}
    for name, value in _numbers(model):
        if isinstance(value, tuple):
            values[name], rest = tuple(rest[: len(value)]), rest[len(value) :]
        else:
            values[name], rest = rest[0], rest[1:]
    if (divided := getattr(model, "_per_slope", None)) is not None:
        slope = values["slope"] = values["slope"] or LEAST_SLOPE
        values[divided] = _turned(values[divided], lambda d: d / slope)
    changed: ResponseModel = dataclasses.replace(model, **values)  # type: ignore[type-var]
    return changed


def model_near(model: ResponseModel, step: Floats) -> ResponseModel:
    """Return a model whose parameters differ by a step, or by as much of it as is valid."""
    start = parameter_vector(model)
    for share in _SHARES:
        try:
            return with_parameters(model, start + share * step)
        except InvalidModelError:
            continue
    return model


def model_table(model: ResponseModel, item: Variable, parents: Sequence[Variable]) -> Floats:
    """Return the chance of each response, ``(parent configurations, responses)``."""
    values = np.real(model.cpd(item, parents).to_factor().values)
    return np.ascontiguousarray(values.reshape(item.n_states, -1).T)
