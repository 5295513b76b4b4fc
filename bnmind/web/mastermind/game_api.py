"""The JSON API of a game that is played elsewhere; it keeps nothing between requests."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request

from bnmind.web.base.answer import answered_by
from bnmind.web.base.work import work_of
from bnmind.web.mastermind import forms, game_answers
from bnmind.web.mastermind.games import GameQuestion, GuessQuestion, HistoryText, WhatIfQuestion

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["A game played elsewhere"])


@router.post("/suggest", summary="The next guess, and why", responses=answered_by(forms.Advised))
async def suggest(question: GameQuestion, request: Request) -> dict[str, Any]:
    """Return the guess of least expected entropy, the reasons for it, and the belief.

    `rows` holds, for each row of the history, the probability that its reply is wrong, and the most
    probable true replies. `positions` holds the probability of each color at each position.
    """
    work = work_of(request)
    answer = partial(game_answers.suggest, question, once=not work.is_warm)
    return await work.run(request, answer)


@router.post(
    "/doubts", summary="Which replies are probably wrong", responses=answered_by(forms.Doubted)
)
async def doubts(question: GameQuestion, request: Request) -> dict[str, Any]:
    """Return the probability that each reply is wrong, without looking for a guess."""
    return await work_of(request).run(request, partial(game_answers.doubts, question))


@router.post(
    "/what-if", summary="The same game with one row different", responses=answered_by(forms.Advised)
)
async def what_if(question: WhatIfQuestion, request: Request) -> dict[str, Any]:
    """Return what `suggest` would say if a row were left out, or had another reply."""
    work = work_of(request)
    answer = partial(game_answers.what_if, question, once=not work.is_warm)
    return await work.run(request, answer)


@router.post(
    "/guess", summary="What a guess of your own should tell", responses=answered_by(forms.Described)
)
async def guess(question: GuessQuestion, request: Request) -> dict[str, Any]:
    """Return the expected information of a guess, in bits, and its chance to be the code."""
    return await work_of(request).run(request, partial(game_answers.describe, question))


@router.post(
    "/history", summary="Read a history that is written as text", responses=answered_by(forms.Read)
)
async def history(question: HistoryText, request: Request) -> dict[str, Any]:
    """Return the rows of a text such as `1123 1b1w, 2345 0b2w`."""
    return await work_of(request).run(request, partial(game_answers.read_history, question))
