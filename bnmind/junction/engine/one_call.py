"""Questions in one call: each model keeps an engine, which remembers plans for the next call."""

from __future__ import annotations

from collections.abc import Iterable

from bnmind._arguments import checked
from bnmind.junction.engine.engine import Engine, compile_model
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.evidence import Evidence
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.network import FactorModel, Network

__all__ = ["MODEL_MEMORY", "engine_of", "posterior"]

MODEL_MEMORY = 2**26
"""The limit for the bytes of the plans that a model keeps for questions in one call: 64 MiB."""


def engine_of(model: Network | FactorModel) -> Engine:
    """Return the engine that a model keeps. Copies and pickles of the model have none."""
    engine: Engine | None = model.__dict__.get("_engine")
    if engine is None:
        # Of several threads that make one at the same time, the first wins.
        made = compile_model(model, memory=MODEL_MEMORY)
        engine = model.__dict__.setdefault("_engine", made)
    return engine


@checked
def posterior(
    model: Network | FactorModel,
    evidence: Evidence | None = None,
    targets: str | Iterable[str | Iterable[str]] | None = None,
    *,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Posterior:
    """Return the distributions of variables given evidence.

    This is one question to an engine; see `compile_model` for all other questions. Without
    ``order`` and ``limits``, the model keeps the engine, with at most 64 MiB of plans, so that
    repeated questions are faster.

    Parameters
    ----------
    model
        A network, or a product of factors.
    evidence
        A state for each observed variable, or a likelihood ``{state: weight}`` where the
        observation is uncertain. None and NaN mean that nothing was observed. A mapping or a
        `pandas.Series`.
    targets
        The variables of interest: a name or a list of names; a tuple of names inside of a list
        asks for a joint distribution. By default every variable without a state in the evidence.
    order
        The search for an elimination order; by default `Portfolio`.
    limits
        The limits of the computation, as in `compile_plan`.

    Raises
    ------
    UnknownNameError
        If the model has no such variable, or the variable no such state.
    ImpossibleEvidenceError
        If the evidence has probability zero. The error names findings that contradict each other.
    TooLargeError
        If the computation would exceed its limits. The error is raised before the computation.
    InvalidArgumentError
        If the evidence or the targets are not valid.
    CancellationError
        As in `Plan.run`.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> posterior(network, {"wet": "yes"})
    Posterior(1 target, log_evidence=-1.34707)
    rain  no 0.308  yes 0.692
    >>> round(posterior(network, targets=[("wet", "rain")])["wet", "rain"]["yes", "no"], 3)
    0.08
    """
    if order is None and limits == DEFAULT_LIMITS:
        return engine_of(model).posterior(targets, evidence)
    return Engine(model=model, order=order, limits=limits).posterior(targets, evidence)
