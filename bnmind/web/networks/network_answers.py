"""The answers to questions about a network, ready to be sent as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic import Field

from bnmind.errors import ImpossibleEvidenceError
from bnmind.web.base import words
from bnmind.web.base.form import Form
from bnmind.web.networks.models import Model, Models, Opened

__all__ = [
    "NetworkQuestion",
    "PictureQuestion",
    "RankQuestion",
    "explain",
    "picture",
    "posterior",
    "rank",
]

MOST_DRAWN = 60
"""Networks of more variables have no picture on the page."""


class NetworkQuestion(Form):
    """A network and the evidence."""

    model: Model
    evidence: dict[str, str | dict[str, float]] = Field(
        {},
        max_length=500,
        description="The state of each observed variable, or a likelihood {state: weight}.",
    )


class PictureQuestion(NetworkQuestion):
    """A network, the evidence, and other evidence to compare it with."""

    compare: dict[str, str | dict[str, float]] | None = Field(
        None, max_length=500, description="Other evidence, whose bars are drawn above the others."
    )


class RankQuestion(NetworkQuestion):
    """A network, the evidence, and the variables of interest."""

    about: list[str] = Field(
        min_length=1, max_length=5, description="The variables about which to learn."
    )


def posterior(models: Models, question: NetworkQuestion) -> dict[str, Any]:
    """Return the distribution of each variable, and the probability of the evidence."""
    opened = models.opened(question.model)
    found = _posterior(opened, question)
    evidence = question.evidence
    variables = []
    for variable in opened.network.variables:
        name = variable.name
        hard = evidence.get(name)
        shares = (
            [float(state == hard) for state in variable.states]
            if isinstance(hard, str)
            else [float(found[name][state]) for state in variable.states]
        )
        variables.append(
            {
                "name": name,
                "states": list(variable.states),
                "parents": [parent.name for parent in opened.network.cpd(name).parents],
                "posterior": shares,
            }
        )
    log = found.log_evidence if evidence else 0.0
    return {
        "title": opened.title,
        "variables": variables,
        "log_probability": log,
        "words": _probability(log) if evidence else "",
        "drawn": len(variables) <= MOST_DRAWN,
    }


def picture(models: Models, question: PictureQuestion) -> dict[str, Any]:
    """Return a picture of the network with its distributions, as SVG."""
    from bnmind.views import belief_view, side_by_side

    opened = models.opened(question.model)
    view = belief_view(opened.network, _posterior(opened, question), evidence=question.evidence)
    most = max(2, *(variable.n_states for variable in opened.network.variables))
    if question.compare is None:
        svg = view.svg(max_states=most)
    else:
        other = NetworkQuestion(model=question.model, evidence=question.compare)
        first = belief_view(opened.network, _posterior(opened, other), evidence=other.evidence)
        svg = side_by_side(first, view, titles=("compared", "now")).svg(max_states=most)
    # The policy of the pages allows no inline styles.
    return {"svg": svg.replace(' style="font-variant-numeric:tabular-nums"', "")}


def rank(models: Models, question: RankQuestion) -> dict[str, Any]:
    """Return what to observe next, by its information about the variables of interest."""
    from bnmind.questions import rank_questions

    opened = models.opened(question.model)
    with opened.lock, _said_plainly():
        ranking = rank_questions(
            opened.engine, about=question.about, evidence=dict(question.evidence)
        )
    return {
        "about": list(ranking.about),
        "entropy": ranking.entropy,
        "rows": [
            {
                "question": row.question,
                "information": row.information,
                "expected_entropy": row.expected_entropy,
                "predicted": dict(row.predicted),
            }
            for row in ranking
        ],
    }


def explain(models: Models, question: NetworkQuestion) -> dict[str, Any]:
    """Return the most probable states of all variables together, given the evidence."""
    opened = models.opened(question.model)
    with opened.lock, _said_plainly():
        found = opened.engine.mpe(dict(question.evidence))
        log = opened.engine.log_probability(dict(question.evidence)) if question.evidence else 0.0
    share = math.exp(found.log_probability - log)
    return {
        "states": dict(found.states),
        "log_probability": found.log_probability,
        "probability_given_evidence": share,
        "words": f"Given the evidence, these states together have the probability"
        f" {words.percent(min(1.0, share))}.",
    }


def _posterior(opened: Opened, question: NetworkQuestion) -> Any:
    names = [
        variable.name
        for variable in opened.network.variables
        if not isinstance(question.evidence.get(variable.name), str)
    ]
    with opened.lock, _said_plainly():
        return opened.engine.posterior(names, dict(question.evidence))


@contextmanager
def _said_plainly() -> Iterator[None]:
    """Let an error about contradictory evidence name the findings in a sentence."""
    try:
        yield
    except ImpossibleEvidenceError as fault:
        raise ImpossibleEvidenceError(_contradiction(fault.evidence), fault.evidence) from fault


def _contradiction(findings: Mapping[str, object]) -> str:
    """Return which findings contradict each other.

    >>> _contradiction({"tub": "yes", "either": "no"})
    'these findings contradict each other: tub = yes, either = no'
    >>> _contradiction({"smoke": "maybe"})
    'the finding smoke = maybe is impossible'
    """
    named = [
        f"{name} = {finding}" if isinstance(finding, str) else f"{name} (uncertain)"
        for name, finding in findings.items()
    ]
    if len(named) == 1:
        return f"the finding {named[0]} is impossible"
    return f"these findings contradict each other: {', '.join(named)}"


def _probability(log: float) -> str:
    """Return a probability in words.

    >>> _probability(math.log(0.25)), _probability(-30.0)
    ('The evidence has the probability 25 %.', 'The evidence has the probability 9.4e-14.')
    """
    p = math.exp(log)
    return f"The evidence has the probability {words.percent(p) if p >= 0.001 else f'{p:.1e}'}."
