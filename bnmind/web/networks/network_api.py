"""The JSON API of networks; it keeps nothing of a visitor between requests."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import APIRouter, Request

from bnmind.web.base.answer import answered_by
from bnmind.web.base.work import NETWORKS, Turn, work_of
from bnmind.web.networks import forms, network_answers
from bnmind.web.networks.models import SHIPPED, Models
from bnmind.web.networks.network_answers import NetworkQuestion, PictureQuestion, RankQuestion

__all__ = ["router"]

_LONG = 5000
"""Files with more letters are heavy work from the start."""

router = APIRouter(prefix="/api/network", tags=["Bayesian networks"])


@router.get("/models", summary="The networks that need no file")
async def models() -> dict[str, str]:
    """Return the names of networks, and what each of them is."""
    return dict(SHIPPED)


@router.post(
    "/query",
    summary="The distribution of every variable, given evidence",
    responses=answered_by(forms.Queried),
)
async def query(question: NetworkQuestion, request: Request) -> dict[str, Any]:
    """Return the posterior of every variable, and the probability of the evidence.

    Evidence that contradicts itself is refused, and the error names the findings.
    """
    work = partial(network_answers.posterior, _models(request), question)
    return await _run(request, question, work)


@router.post(
    "/picture", summary="A picture of the network, as SVG", responses=answered_by(forms.Picture)
)
async def picture(question: PictureQuestion, request: Request) -> dict[str, Any]:
    """Return the network with the distribution of every variable, or with two to compare."""
    work = partial(network_answers.picture, _models(request), question)
    return await _run(request, question, work)


@router.post("/rank", summary="What to observe next", responses=answered_by(forms.Ranked))
async def rank(question: RankQuestion, request: Request) -> dict[str, Any]:
    """Return the variables by the information that they should give about some others."""
    work = partial(network_answers.rank, _models(request), question)
    return await _run(request, question, work)


@router.post(
    "/explain", summary="The most probable explanation", responses=answered_by(forms.Explained)
)
async def explain(question: NetworkQuestion, request: Request) -> dict[str, Any]:
    """Return the most probable states of all variables together."""
    work = partial(network_answers.explain, _models(request), question)
    return await _run(request, question, work)


async def _run(
    request: Request, question: NetworkQuestion, work: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    is_long = len(question.model.text or "") > _LONG
    turn = Turn.HEAVY if is_long else Turn.QUICK
    return await work_of(request).run(request, work, needs=NETWORKS, turn=turn)


def _models(request: Request) -> Models:
    models: Models = request.app.state.models
    return models
