"""The JSON API of a game against the server, which hides a code and distorts its replies.

The game is a value in the visitor's session; nobody else's session has it.
"""

from __future__ import annotations

import secrets
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from bnmind.errors import InvalidHistoryError
from bnmind.web.base import words
from bnmind.web.base.form import Form
from bnmind.web.base.sessions import Sessions, remember, visitor
from bnmind.web.base.work import work_of
from bnmind.web.mastermind.game_answers import suggest
from bnmind.web.mastermind.games import UNKNOWN, GameQuestion, Setting

if TYPE_CHECKING:
    from bnmind.lab.mastermind.hidden_game import HiddenGame

__all__ = ["router"]

router = APIRouter(prefix="/api/play", tags=["A game against the server"])

_NAME = "play"


class NewGame(Setting):
    """The game to begin."""

    noise: str = Field("false:0.2", max_length=40, description="As in `suggest`, but not unknown.")
    most_guesses: int = Field(40, ge=1, le=40, description="How many guesses there are.")


class Guess(Form):
    """A guess."""

    guess: str = Field(max_length=80, examples=["1123"])


class _Played:
    """A game with the setting that it was begun with."""

    def __init__(self, setting: NewGame, game: HiddenGame) -> None:
        self.setting = setting
        self.game = game


@router.post("", summary="Begin a game")
async def begin(setting: NewGame, request: Request, response: Response) -> dict[str, Any]:
    """Hide a new code. The game before, if any, is forgotten."""
    played = await work_of(request).run(request, partial(_begun, setting))
    remember(request, response, _NAME, played)
    return _state(played)


@router.get("", summary="The game so far")
async def state(request: Request) -> dict[str, Any]:
    """Return the game so far; `board` is null if none was begun."""
    played = _sessions(request).get(visitor(request), _NAME)
    return {"board": None} if played is None else _state(played)


@router.post("/guess", summary="Make a guess")
async def guess(made: Guess, request: Request, response: Response) -> dict[str, Any]:
    """Answer a guess through the noise. A win is always reported truthfully."""
    played = _played(request)
    game = played.game.guess(played.game.maker.board.parse(made.guess))
    return _changed(request, response, played, game)


@router.post("/undo", summary="Take the last guess back")
async def undo(request: Request, response: Response) -> dict[str, Any]:
    """Take the last guess back. The same guess will get the same reply."""
    played = _played(request)
    return _changed(request, response, played, played.game.undo())


@router.post("/give-up", summary="See the code")
async def give_up(request: Request, response: Response) -> dict[str, Any]:
    """Give up, and see the code and the true replies."""
    played = _played(request)
    return _changed(request, response, played, played.game.give_up())


@router.post("/hint", summary="A good guess, and why")
async def hint(request: Request, response: Response) -> dict[str, Any]:
    """Return what `suggest` says about the game so far."""
    played = _played(request)
    if played.game.is_over:
        raise InvalidHistoryError("the game is over; start a new one, or undo")
    board = played.game.maker.board
    rows = [
        {"guess": board.format(turn.guess), "reply": str(turn.reply)} for turn in played.game.turns
    ]
    setting = {name: getattr(played.setting, name) for name in Setting.model_fields}
    question = GameQuestion.model_validate({**setting, "turns": rows, "goes_on": True})
    work = work_of(request)
    answer = await work.run(request, partial(suggest, question, once=not work.is_warm))
    now = _played(request)  # the visitor may have gone on meanwhile
    remember(request, response, _NAME, _Played(now.setting, now.game.with_hint()))
    return answer


def _begun(setting: NewGame) -> _Played:
    from bnmind.errors import InvalidChannelError
    from bnmind.lab.mastermind.code_maker import CodeMaker
    from bnmind.lab.mastermind.hidden_game import HiddenGame

    if setting.noise.strip() == UNKNOWN:
        raise InvalidChannelError("choose how often replies are false", setting.noise)
    setting.start()  # a game without hints would be refused later
    maker = CodeMaker.from_seed(
        setting.channel().revealed(),
        secrets.randbits(63),
        turns=setting.most_guesses,
        prior=setting.drawn_from(),
    )
    return _Played(setting, HiddenGame(maker))


def _sessions(request: Request) -> Sessions:
    sessions: Sessions = request.app.state.sessions
    return sessions


def _played(request: Request) -> _Played:
    played: _Played | None = _sessions(request).get(visitor(request), _NAME)
    if played is None:
        raise InvalidHistoryError("there is no game, or it was forgotten; begin a new one")
    return played


def _changed(
    request: Request, response: Response, played: _Played, game: HiddenGame
) -> dict[str, Any]:
    after = _Played(played.setting, game)
    remember(request, response, _NAME, after)
    return _state(after)


def _state(played: _Played) -> dict[str, Any]:
    """Return what the player may know."""
    game, setting = played.game, played.setting
    board, over = game.maker.board, game.is_over
    rows = []
    for answered in game.answered:
        row: dict[str, Any] = {
            "guess": board.format(answered.guess),
            "reply": str(board.winning if answered.report is None else answered.report),
            "won": answered.report is None,
        }
        if over:
            row |= {"true": str(answered.true), "false": answered.is_false}
        rows.append(row)
    return {
        "board": {"pegs": board.pegs, "colors": board.colors, "repeats": board.repeats},
        "noise": setting.noise,
        "prior": setting.prior,
        "rows": rows,
        "guesses_left": game.guesses_left,
        "over": over,
        "won": game.is_won,
        "secret": board.format(game.maker.secret) if over else None,
        "undone": game.undone,
        "hints": game.hints,
        "words": _words(game),
    }


def _words(game: HiddenGame) -> str:
    """Return how the game stands, in a sentence or two."""
    made = words.counted(len(game.guesses), "guess", "guesses")
    if not game.is_over:
        return "" if game.guesses else "A code is hidden. Make your first guess."
    false = sum(answered.is_false for answered in game.answered)
    replies = sum(answered.report is not None for answered in game.answered)
    lies = f"{false} of {words.counted(replies, 'reply was', 'replies were')} false."
    if game.is_won:
        return f"You found the code in {made}. {lies if replies else ''}".strip()
    if game.given_up:
        return f"You gave up after {made}. {lies}"
    return f"That was the last guess. {lies}"
