"""``bnmind query`` where a plan does not fit: slices, and approximate answers on demand."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from bnmind._registry import COUNT, NUMBER, Registered, made_by_name
from bnmind.cli.shared.printable import printable, tell, tell_json
from bnmind.cli.shared.work import Report, working
from bnmind.errors import BnmindError, TooLargeError

if TYPE_CHECKING:
    from bnmind.junction import Limits, OrderFinder, Plan, Posterior, SlicedPlan
    from bnmind.pgm import FactorModel, Network

__all__ = ["APPROXIMATIONS", "planned_in_slices", "run_plan", "show_approximation"]

_GAP = 0.01
"""The default width of bounds."""

_LONG = 5.0
"""Seconds of a run whose predicted time is said."""

_SAMPLES = 100_000
"""The default number of samples."""


@dataclass(frozen=True, kw_only=True)
class _Question:
    """A question for an approximate answer."""

    network: Network
    known: Mapping[str, str]
    names: Sequence[str]
    order: OrderFinder | None
    limits: Limits
    seed: int | None


_Approximation: TypeAlias = Callable[[_Question, Report], tuple[str, dict[str, Any]]]
"""Answers a question, as text and as JSON, and reports its progress."""


def _bounds(gap: float, question: _Question, report: Report) -> tuple[str, dict[str, Any]]:
    """Return bounds that are at most ``gap`` wide."""
    from bnmind.junction import compile_bounds

    plan = compile_bounds(
        question.network,
        known=question.known,
        targets=[[name] for name in question.names],
        order=question.order,
        limits=question.limits,
    )
    bounds = plan.run(gap=gap, progress=report)
    pairs = zip(bounds.targets, bounds.lower, bounds.upper, strict=True)
    intervals = {
        v.name: dict(zip(v.states, map(list, zip(low, high, strict=True)), strict=True))
        for (v,), low, high in ((scope, a.tolist(), b.tolist()) for scope, a, b in pairs)
    }
    found = {"bounds": intervals, "gap": bounds.gap, "log_evidence": list(bounds.log_evidence)}
    return repr(bounds), found


def _weighting(n_samples: int, question: _Question, report: Report) -> tuple[str, dict[str, Any]]:
    """Return estimates from weighted samples."""
    import numpy as np

    from bnmind.junction import likelihood_weighting

    answer = likelihood_weighting(
        question.network,
        question.known,
        question.names,
        n_samples=n_samples,
        rng=np.random.default_rng(question.seed),
        limits=question.limits,
        progress=report,
    )

    def by_state(columns: Sequence[Any]) -> dict[str, dict[str, float]]:
        pairs = zip(answer.variables, columns, strict=True)
        return {v.name: dict(zip(v.states, c.tolist(), strict=True)) for v, c in pairs}

    found = {
        "estimates": by_state(answer.estimates),
        "standard_errors": by_state(answer.standard_errors),
        "log_evidence": answer.log_evidence,
        "evidence_error": answer.evidence_error,
        "n_samples": answer.n_samples,
        "effective_samples": answer.effective_samples,
    }
    return repr(answer), found


APPROXIMATIONS: Mapping[str, Registered[_Approximation]] = MappingProxyType(
    {
        "bounds": Registered(
            f"guaranteed bounds, at most NUMBER wide (default {_GAP})",
            lambda: partial(_bounds, _GAP),
            NUMBER,
            lambda gap: partial(_bounds, gap),
        ),
        "likelihood-weighting": Registered(
            f"estimates from N weighted samples (default {_SAMPLES:,}), with standard errors",
            lambda: partial(_weighting, _SAMPLES),
            COUNT,
            lambda n_samples: partial(_weighting, n_samples),
        ),
    }
)
"""The kinds of approximate answers by name."""


def show_approximation(
    name: str,
    network: Network | FactorModel,
    question: tuple[Mapping[str, str], Sequence[str], OrderFinder | None, Limits],
    *,
    seed: int | None,
    as_json: bool,
) -> None:
    """Print an approximate answer.

    Parameters
    ----------
    name
        The kind of the answer, with its argument.
    network
        The model, which must be a network.
    question
        The evidence, the targets, the search for elimination orders, and the limits.
    seed
        The seed of the samples.
    as_json
        Whether to print JSON.
    """
    from bnmind.pgm import Network

    approximation = made_by_name("approximation", APPROXIMATIONS, name)
    if not isinstance(network, Network):
        raise BnmindError("--approximate needs a Bayesian network; this file has other factors")
    known, names, order, limits = question
    asked = _Question(
        network=network, known=known, names=names, order=order, limits=limits, seed=seed
    )
    text, found = working("approximating", lambda report: approximation(asked, report))
    if as_json:
        tell_json(found)
        return
    tell("\n".join([printable(line) for line in text.split("\n")]))


def planned_in_slices(
    network: FactorModel,
    known: Mapping[str, str],
    names: Sequence[str],
    *,
    order: OrderFinder | None,
    limits: Limits,
    refusal: TooLargeError,
) -> SlicedPlan:
    """Return a plan in slices; raise the refusal of the whole if memory is not the reason."""
    from bnmind.junction.slicing.beyond_memory import sliced_instead

    targets = [[name] for name in names]
    return working(
        "planning slices",
        lambda _: sliced_instead(
            refusal, network, known=known, targets=targets, order=order, limits=limits
        ),
    )


def run_plan(
    plan: Plan | SlicedPlan, findings: Mapping[str, str], place: str | os.PathLike[str] | None
) -> Posterior:
    """Return the answer of a plan; slices keep their sums in a file, if one is given."""
    from bnmind.junction import Plan
    from bnmind.junction.program.run_time import seconds_text

    if isinstance(plan, Plan):
        long = plan.seconds > _LONG
        what = f"computing, {seconds_text(plan.seconds)} in all" if long else "computing"
        return working(what, lambda report: plan.run(findings, progress=report))
    return working(
        f"computing {plan.n_slices:,} slices",
        lambda report: plan.run(findings, progress=report, place=place),
    )
