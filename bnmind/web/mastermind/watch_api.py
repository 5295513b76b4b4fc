"""The JSON API of games to watch; it keeps nothing between requests."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request

from bnmind.web.base.answer import answered_by
from bnmind.web.base.work import WATCHED, work_of
from bnmind.web.mastermind import forms, watch_answers
from bnmind.web.mastermind.watch_answers import WatchQuestion

__all__ = ["router"]

router = APIRouter(prefix="/api/watch", tags=["Games of strategies"])


@router.get("/strategies", summary="The strategies")
async def strategies(request: Request) -> list[dict[str, str]]:
    """Return the names of all strategies, and what each of them does."""
    return await work_of(request).run(request, watch_answers.strategies, needs=WATCHED)


@router.post("", summary="A whole game of a strategy", responses=answered_by(forms.Watched))
async def watch(question: WatchQuestion, request: Request) -> dict[str, Any]:
    """Return the guesses, the replies, the true replies, and the entropy left after each.

    Games of one setting and one seed have the same secret, and the noise of each turn is the same
    for all strategies.
    """
    return await work_of(request).run(
        request, partial(watch_answers.watch, question), needs=WATCHED
    )
