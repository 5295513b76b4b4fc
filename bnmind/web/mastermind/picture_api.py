"""The JSON API of the pictures of a belief; it keeps nothing between requests."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request

from bnmind.web.base.answer import answered_by
from bnmind.web.base.work import NETWORKS, work_of
from bnmind.web.mastermind import forms, picture_answers
from bnmind.web.mastermind.picture_answers import PictureQuestion, StageQuestion

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["Pictures of a belief"])


@router.post(
    "/known",
    summary="The entropy by turn, and the information of all guesses",
    responses=answered_by(forms.Known),
)
async def known(question: PictureQuestion, request: Request) -> dict[str, Any]:
    """Return what is known about the code, and how it became known.

    `entropies` holds the entropy before the first guess and after each reply, in bits.
    `information` says how many guesses have an expected information between two `edges`.
    """
    return await work_of(request).run(request, partial(picture_answers.known, question))


@router.post(
    "/stage",
    summary="Vomlel's network, with the belief in its nodes",
    responses=answered_by(forms.Stage),
)
async def stage(question: StageQuestion, request: Request) -> dict[str, Any]:
    """Return a stage of the network and its junction tree as SVG, and the sizes of the cliques."""
    work = partial(picture_answers.stage_picture, question)
    return await work_of(request).run(request, work, needs=NETWORKS)
