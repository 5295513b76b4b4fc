"""A game against the server, which hides a code and distorts its replies.

The visitor's browser keeps the game, see `bnmind.web.guard.keep`: its setting, its guesses, and a
number. The hidden code and the luck follow from this number and the key of the server.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from pydantic import Field

from bnmind.errors import InvalidArgumentError
from bnmind.web.forms import Form, Probability
from bnmind.web.games import UNKNOWN, Advised, Setting, advice_on, game_of
from bnmind.web.guard import hidden_number, keep, kept
from bnmind.web.work import REVIEWS, work_of

if TYPE_CHECKING:
    from bnmind.lab.mastermind.games import CodeMaker, HiddenGame
    from bnmind.lab.mastermind.review import GuessReview
    from bnmind.mastermind import Turn

router = APIRouter(prefix="/api/play", tags=["A game against the server"])

_NAME, _HINTS = "play", "hints"


class NewGame(Setting):
    """The game to begin."""

    noise: str = Field("false:0.2", max_length=40)
    """As in `suggest`, but not unknown."""
    most_guesses: int = Field(40, ge=1, le=40)
    """How many guesses there are."""


class Guess(Form):
    """A guess."""

    guess: str = Field(max_length=80, examples=["1123"])


class BoardSize(Form):
    """The board of a game."""

    pegs: int
    colors: int
    repeats: bool


class PlayedRow(Form):
    """A guess and its answer."""

    guess: str
    reply: str
    """The reported reply."""
    won: bool
    true: str | None = None
    """The true reply, when the game is over."""
    false: bool | None = None
    """Whether the reported reply was false, when the game is over."""


class Played(Form):
    """A game against the server."""

    board: BoardSize
    noise: str
    prior: str
    rows: list[PlayedRow]
    guesses_left: int
    over: bool
    won: bool
    secret: str | None
    """The hidden code, when the game is over."""
    undone: int
    """How many guesses were taken back."""
    hints: int
    words: str


class NoGame(Form):
    """That no game was begun."""

    board: None


class ReviewedRow(Form):
    """A guess beside the most informative one."""

    guess: str
    reply: str
    """The reported reply."""
    best: str
    """The most informative guess; the guess itself if none tells more."""
    information: float
    """What the guess should have told, in bits."""
    best_information: float
    """What the best guess should have told, in bits."""
    regret: float
    """What was lost, in bits."""
    told: float
    """What the reply really told, in bits; negative if it misled."""
    chance: Probability
    """That the guess was the code."""


class Reviewed(Form):
    """A game that is over, in retrospect."""

    rows: list[ReviewedRow]
    regret: float
    """What all guesses lost, in bits."""
    guesses: float | None
    """What they lost in guesses, if replies are true and the board is small."""
    words: str


@dataclass(frozen=True)
class _Played:
    """A game with the setting that it was begun with."""

    identity: str
    """A number, as text, that determines the hidden code for those who have the key."""
    setting: NewGame
    game: HiddenGame


@router.post("", summary="Begin a game", response_model_exclude_unset=True)
async def begin(setting: NewGame, request: Request, response: Response) -> Played:
    """Hide a new code. The game before, if any, is forgotten."""
    identity = secrets.token_urlsafe(16)
    work = partial(_begun, identity, setting, hidden_number(request.app.state.settings, identity))
    return _kept(request, response, await work_of(request).run(request, work))


@router.get("", summary="The game so far", response_model_exclude_unset=True)
async def state(request: Request) -> Played | NoGame:
    """Return the game so far; `board` is null if none was begun."""
    played = await _found(request)
    return NoGame(board=None) if played is None else _state(played)


@router.post("/guess", summary="Make a guess", response_model_exclude_unset=True)
async def guess(made: Guess, request: Request, response: Response) -> Played:
    """Answer a guess through the noise. A win is always reported truthfully."""
    played = await _played(request)
    game = played.game.guess(played.game.maker.board.parse(made.guess))
    return _kept(request, response, replace(played, game=game))


@router.post("/undo", summary="Take the last guess back", response_model_exclude_unset=True)
async def undo(request: Request, response: Response) -> Played:
    """Take the last guess back. The same guess will get the same reply."""
    played = await _played(request)
    return _kept(request, response, replace(played, game=played.game.undo()))


@router.post("/give-up", summary="See the code", response_model_exclude_unset=True)
async def give_up(request: Request, response: Response) -> Played:
    """Give up, and see the code and the true replies."""
    played = await _played(request)
    return _kept(request, response, replace(played, game=played.game.give_up()))


@router.post("/hint", summary="A good guess, and why")
async def hint(request: Request, response: Response) -> Advised:
    """Return what `suggest` says about the game so far."""
    played = await _played(request)
    if played.game.is_over:
        raise InvalidArgumentError("the game is over; start a new one, or undo")
    question = game_of(played.setting, played.game.turns, goes_on=True)
    work = work_of(request)
    answer = await work.run(request, partial(advice_on, question, once=not work.is_warm))
    # Not with the game: the visitor may have gone on meanwhile.
    keep(request, response, _HINTS, {"game": played.identity, "hints": played.game.hints + 1})
    return answer


@router.get("/review", summary="How good each guess was")
async def review(request: Request) -> Reviewed:
    """Return each guess of a game that is over, beside the most informative one."""
    played = await _played(request)
    game = played.game
    if not game.is_over:
        raise InvalidArgumentError("the game is not over yet; find the code, or give up")
    from bnmind.mastermind import Turn

    turns = game.turns
    if game.is_won:
        turns = (*turns, Turn(game.guesses[-1], game.maker.board.winning))
    work = partial(_reviewed, played.setting, turns, won=game.is_won)
    return await work_of(request).run(request, work, needs=REVIEWS)


def _begun(identity: str, setting: NewGame, seed: int) -> _Played:
    from bnmind.lab.mastermind.games import HiddenGame

    if setting.noise.strip() == UNKNOWN:
        raise InvalidArgumentError("choose how often replies are false", setting.noise)
    setting.start()  # a game without hints would be refused later
    return _Played(identity, setting, HiddenGame(_maker(setting, seed)))


@lru_cache(maxsize=512)
def _maker(setting: NewGame, seed: int) -> CodeMaker:
    from bnmind.lab.mastermind.games import CodeMaker

    return CodeMaker.from_seed(
        setting.channel().revealed(), seed, turns=setting.most_guesses, prior=setting.drawn_from()
    )


async def _found(request: Request) -> _Played | None:
    """Return the game that the visitor's browser has kept, if there is one."""
    fields = kept(request, _NAME)
    if fields is None:
        return None
    await work_of(request).loaded(request)
    from bnmind.lab.mastermind.games import HiddenGame

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


def _kept(request: Request, response: Response, played: _Played) -> Played:
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


def _state(played: _Played) -> Played:
    """Return what the player may know."""
    game, setting = played.game, played.setting
    board, over = game.maker.board, game.is_over
    rows = []
    for answered in game.answered:
        row: dict[str, object] = {
            "guess": board.format(answered.guess),
            "reply": str(board.winning if answered.report is None else answered.report),
            "won": answered.report is None,
        }
        if over:
            row |= {"true": str(answered.true), "false": answered.is_false}
        rows.append(PlayedRow.model_validate(row))
    return Played(
        board=BoardSize(pegs=board.pegs, colors=board.colors, repeats=board.repeats),
        noise=setting.noise,
        prior=setting.prior,
        rows=rows,
        guesses_left=game.guesses_left,
        over=over,
        won=game.is_won,
        secret=board.format(game.maker.secret) if over else None,
        undone=game.undone,
        hints=game.hints,
        words=_words(game),
    )


def _words(game: HiddenGame) -> str:
    """Return how the game stands, in a sentence or two."""
    from bnmind.lab.mastermind import words

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


def _reviewed(setting: Setting, turns: Sequence[Turn], *, won: bool) -> Reviewed:
    """Return each guess beside the most informative one, as the command line does after a game.

    Parameters
    ----------
    setting
        The board, the noise and the prior.
    turns
        The guesses and the reported replies; a win is one of them.
    won
        Whether the last guess was the code.
    """
    import numpy as np

    from bnmind.lab.mastermind.review import review_guesses, review_in_guesses

    reviewed = review_guesses(setting.start(), turns, np.random.default_rng(0), won=won)
    judged = None
    if setting.channel().is_exact and setting.drawn_from() is None:
        judged = review_in_guesses(setting.board(), turns)
    guesses = None if judged is None else sum(one.regret for one in judged)
    return Reviewed(
        rows=[ReviewedRow.model_validate(row) for row in reviewed.to_dict()["guesses"]],
        regret=sum(one.regret for one in reviewed.guesses),
        guesses=guesses,
        words=_lost(reviewed.guesses, guesses),
    )


def _lost(reviewed: Sequence[GuessReview], guesses: float | None) -> str:
    """Return what was lost, in a sentence or two."""
    from bnmind.lab.mastermind import words

    lost = [one.regret for one in reviewed if one.regret]
    of, n = words.counted(len(reviewed), "guess", "guesses"), len(reviewed) - len(lost)
    if not reviewed:
        return "There was no guess."
    said = "Each guess was the most informative one."
    if lost:
        best = f"{n} were" if n > 1 else "one was" if n else "none was"
        said = f"Of your {of}, {best} the most informative. Lost in all: {sum(lost):.2f} bits."
    if guesses is not None:
        said += f" Against optimal guesses, {guesses:.2f} guesses were lost."
    return said
