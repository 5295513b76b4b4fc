"""The JSON API of a game against the server, which hides a code and distorts its replies.

The visitor's browser keeps the game, see `bnmind.web.base.sealed`: its setting, its guesses, and a
number. The hidden code and the luck follow from this number and the key of the server.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from bnmind.errors import InvalidArgumentError
from bnmind.web.base import words
from bnmind.web.base.answer import answered_by
from bnmind.web.base.form import Form
from bnmind.web.base.sealed import hidden_number, keep, kept
from bnmind.web.base.work import REVIEWS, work_of
from bnmind.web.mastermind import forms, review_answers
from bnmind.web.mastermind.game_answers import suggest
from bnmind.web.mastermind.games import UNKNOWN, GameQuestion, Setting

if TYPE_CHECKING:
    from bnmind.lab.mastermind.code_maker import CodeMaker
    from bnmind.lab.mastermind.hidden_game import HiddenGame

__all__ = ["router"]

router = APIRouter(prefix="/api/play", tags=["A game against the server"])

_NAME, _HINTS = "play", "hints"


class NewGame(Setting):
    """The game to begin."""

    noise: str = Field("false:0.2", max_length=40, description="As in `suggest`, but not unknown.")
    most_guesses: int = Field(40, ge=1, le=40, description="How many guesses there are.")


class Guess(Form):
    """A guess."""

    guess: str = Field(max_length=80, examples=["1123"])


@dataclass(frozen=True)
class _Played:
    """A game with the setting that it was begun with."""

    identity: str
    """A number, as text, that determines the hidden code for those who have the key."""
    setting: NewGame
    game: HiddenGame


@router.post("", summary="Begin a game", responses=answered_by(forms.Played))
async def begin(setting: NewGame, request: Request, response: Response) -> dict[str, Any]:
    """Hide a new code. The game before, if any, is forgotten."""
    identity = secrets.token_urlsafe(16)
    work = partial(_begun, identity, setting, hidden_number(request.app.state.settings, identity))
    return _kept(request, response, await work_of(request).run(request, work))


@router.get("", summary="The game so far", responses=answered_by(forms.Played | forms.NoGame))
async def state(request: Request) -> dict[str, Any]:
    """Return the game so far; `board` is null if none was begun."""
    played = await _found(request)
    return {"board": None} if played is None else _state(played)


@router.post("/guess", summary="Make a guess", responses=answered_by(forms.Played))
async def guess(made: Guess, request: Request, response: Response) -> dict[str, Any]:
    """Answer a guess through the noise. A win is always reported truthfully."""
    played = await _played(request)
    game = played.game.guess(played.game.maker.board.parse(made.guess))
    return _kept(request, response, replace(played, game=game))


@router.post("/undo", summary="Take the last guess back", responses=answered_by(forms.Played))
async def undo(request: Request, response: Response) -> dict[str, Any]:
    """Take the last guess back. The same guess will get the same reply."""
    played = await _played(request)
    return _kept(request, response, replace(played, game=played.game.undo()))


@router.post("/give-up", summary="See the code", responses=answered_by(forms.Played))
async def give_up(request: Request, response: Response) -> dict[str, Any]:
    """Give up, and see the code and the true replies."""
    played = await _played(request)
    return _kept(request, response, replace(played, game=played.game.give_up()))


@router.post("/hint", summary="A good guess, and why", responses=answered_by(forms.Advised))
async def hint(request: Request, response: Response) -> dict[str, Any]:
    """Return what `suggest` says about the game so far."""
    played = await _played(request)
    if played.game.is_over:
        raise InvalidArgumentError("the game is over; start a new one, or undo")
    board = played.game.maker.board
    rows = [
        {"guess": board.format(turn.guess), "reply": str(turn.reply)} for turn in played.game.turns
    ]
    setting = {name: getattr(played.setting, name) for name in Setting.model_fields}
    question = GameQuestion.model_validate({**setting, "turns": rows, "goes_on": True})
    work = work_of(request)
    answer = await work.run(request, partial(suggest, question, once=not work.is_warm))
    # Not with the game: the visitor may have gone on meanwhile.
    keep(request, response, _HINTS, {"game": played.identity, "hints": played.game.hints + 1})
    return answer


@router.get("/review", summary="How good each guess was", responses=answered_by(forms.Reviewed))
async def review(request: Request) -> dict[str, Any]:
    """Return each guess of a game that is over, beside the most informative one."""
    played = await _played(request)
    game = played.game
    if not game.is_over:
        raise InvalidArgumentError("the game is not over yet; find the code, or give up")
    from bnmind.mastermind import Turn

    turns = game.turns
    if game.is_won:
        turns = (*turns, Turn(game.guesses[-1], game.maker.board.winning))
    work = partial(review_answers.review, played.setting, turns, won=game.is_won)
    return await work_of(request).run(request, work, needs=REVIEWS)


def _begun(identity: str, setting: NewGame, seed: int) -> _Played:
    from bnmind.errors import InvalidArgumentError
    from bnmind.lab.mastermind.hidden_game import HiddenGame

    if setting.noise.strip() == UNKNOWN:
        raise InvalidArgumentError("choose how often replies are false", setting.noise)
    setting.start()  # a game without hints would be refused later
    return _Played(identity, setting, HiddenGame(_maker(setting, seed)))


@lru_cache(maxsize=512)
def _maker(setting: NewGame, seed: int) -> CodeMaker:
    from bnmind.lab.mastermind.code_maker import CodeMaker

    return CodeMaker.from_seed(
        setting.channel().revealed(), seed, turns=setting.most_guesses, prior=setting.drawn_from()
    )


async def _found(request: Request) -> _Played | None:
    """Return the game that the visitor's browser has kept, if there is one."""
    fields = kept(request, _NAME)
    if fields is None:
        return None
    await work_of(request).loaded(request)
    from bnmind.lab.mastermind.hidden_game import HiddenGame

    identity, setting = fields["game"], NewGame.model_validate(fields["setting"])
    hinted = kept(request, _HINTS) or {}
    game = HiddenGame(
        _maker(setting, hidden_number(request.app.state.settings, identity)),
        tuple(tuple(guess) for guess in fields["guesses"]),
        given_up=fields["given_up"],
        undone=fields["undone"],
        hints=hinted["hints"] if hinted.get("game") == identity else 0,
    )
    return _Played(identity, setting, game)


async def _played(request: Request) -> _Played:
    played = await _found(request)
    if played is None:
        raise InvalidArgumentError("there is no game, or it was forgotten; begin a new one")
    return played


def _kept(request: Request, response: Response, played: _Played) -> dict[str, Any]:
    """Let the browser keep a game, and return what the player may know."""
    fields = {
        "game": played.identity,
        "setting": played.setting.model_dump(exclude_defaults=True),
        "guesses": played.game.guesses,
        "given_up": played.game.given_up,
        "undone": played.game.undone,
    }
    keep(request, response, _NAME, fields)
    return _state(played)


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
    lies = ""
    if replies and not game.maker.channel.is_exact:
        lies = f" {words.false_replies(false, replies)}"
    if game.is_won:
        return f"You found the code in {made}.{lies}"
    if game.given_up:
        return f"You gave up after {made}.{lies}"
    return f"That was the last guess.{lies}"
