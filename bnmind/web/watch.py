"""Games of strategies against the same code-maker, to be watched; nothing is kept of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Request
from pydantic import Field

from bnmind.errors import InvalidArgumentError, TooLargeError, UnknownNameError
from bnmind.web.forms import Form
from bnmind.web.games import UNKNOWN, Code, Setting
from bnmind.web.work import WATCHED, work_of

if TYPE_CHECKING:
    from bnmind.lab.mastermind.games import CodeMaker, Transcript

_MOST_CODES = 2**13
"""Boards with more codes take too long for some strategies."""
_SEARCHING = ("deeper", "optimal", "optimal-worst")
"""Strategies that search many games before the first guess, in seconds up to the board 4x6."""
_SEARCHED_PEGS, _SEARCHED_COLORS = 4, 6


class WatchQuestion(Setting):
    """A strategy, and the code-maker against whom it plays."""

    noise: str = Field("false:0.2", max_length=40)
    """As in `suggest`, but not unknown."""
    strategy: str = Field("entropy", max_length=40)
    """The name of a strategy; see `/api/watch/strategies`."""
    seed: int = Field(0, ge=0, lt=2**53)
    """Games of one seed have the same secret and the same noise."""
    secret: Annotated[Code | None, Field(description="The code; drawn by the seed if null.")] = None
    most_guesses: int = Field(20, ge=1, le=40)
    """How many guesses there are."""


class WatchedRow(Form):
    """A guess of a strategy."""

    guess: str
    reply: str
    """The reported reply."""
    true: str
    """The true reply."""
    false: bool
    """Whether the reported reply is false."""
    won: bool
    entropy: float
    """What is unknown about the code afterwards, in bits."""


class Watched(Form):
    """A game of a strategy."""

    strategy: str
    seed: int
    secret: str
    rows: list[WatchedRow]
    entropy: float
    """Before the first guess, in bits."""
    won: bool
    words: str


def _strategies() -> list[dict[str, str]]:
    from bnmind.strategies import STRATEGIES

    return [{"name": name, "about": one.about} for name, one in STRATEGIES.items()]


def _watched(question: WatchQuestion) -> Watched:
    """Return the game of a strategy against the code-maker of a seed.

    Raises
    ------
    UnknownNameError
        If the registry has no such strategy; strategies of modules are not loaded.
    TooLargeError
        If the board is too large to watch.
    InvalidArgumentError
        If the noise is unknown.
        If the prior excludes the secret.
    """
    from bnmind.lab.mastermind.games import Revealed, play_game
    from bnmind.strategies import STRATEGIES

    name = question.strategy
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, tuple(STRATEGIES))
    _check_size(question)
    maker = _code_maker(question)
    game = play_game(STRATEGIES[name](), maker, ending=Revealed(question.most_guesses))
    board, entropies = game.board, _entropies(game)
    return Watched(
        strategy=question.strategy,
        seed=question.seed,
        secret=board.format(game.secret),
        rows=[
            WatchedRow(
                guess=board.format(turn.guess),
                reply=str(board.winning if turn.report is None else turn.report),
                true=str(turn.true_reply),
                false=turn.report is not None and turn.report != turn.true_reply,
                won=turn.report is None,
                entropy=entropy,
            )
            for turn, entropy in zip(game.turns, entropies[1:], strict=True)
        ],
        entropy=entropies[0],
        won=game.won,
        words=_ended(game),
    )


def _check_size(question: WatchQuestion) -> None:
    board, name = question.board(), question.strategy
    if name in _SEARCHING and (board.pegs > _SEARCHED_PEGS or board.colors > _SEARCHED_COLORS):
        raise TooLargeError(
            f"{name} searches all games: watch it on boards of at most {_SEARCHED_PEGS} positions"
            f" and {_SEARCHED_COLORS} colors",
            needed=board.n_codes,
            budget=_SEARCHED_COLORS**_SEARCHED_PEGS,
        )
    if board.n_codes > _MOST_CODES:
        raise TooLargeError(
            f"watch games on boards of at most {_MOST_CODES:,} codes; the board {board} has"
            f" {board.n_codes:,}",
            needed=board.n_codes,
            budget=_MOST_CODES,
        )


def _code_maker(question: WatchQuestion) -> CodeMaker:
    import numpy as np

    from bnmind.lab.mastermind.games import CodeMaker

    if question.noise.strip() == UNKNOWN:
        raise InvalidArgumentError("choose how often replies are false", question.noise)
    board, prior = question.board(), question.drawn_from()
    secret = None if question.secret is None else board.parse(question.secret)
    is_chosen = (
        secret is None or prior is None or prior.log_weights(np.array([secret]))[0] > -np.inf
    )
    if not is_chosen:
        raise InvalidArgumentError(
            f"the code {question.secret} is never chosen under the prior {question.prior}; choose"
            " another secret",
            prior,
        )
    return CodeMaker.from_seed(
        question.channel().revealed(),
        question.seed,
        secret=secret,
        turns=question.most_guesses,
        prior=prior,
    )


def _entropies(game: Transcript) -> list[float]:
    """Return the entropy before the first guess and after each, in bits.

    As in `belief_entropies`, it is that of a player who models the noise; the game goes on to its
    end, after which nothing is unknown if it was won.
    """
    from bnmind.strategies import start_posterior

    belief = start_posterior(game.assumed, game.assumed_prior)
    entropies = [belief.entropy()]
    for turn in game.turns:
        if turn.report is None:
            entropies.append(0.0)
        else:
            belief = belief.update(turn.guess, turn.report)
            entropies.append(belief.entropy())
    return entropies


def _ended(game: Transcript) -> str:
    from bnmind.lab.mastermind import words

    made = words.counted(game.guesses, "guess", "guesses")
    return f"Found in {made}." if game.won else f"Not found in {made}."


router = APIRouter(prefix="/api/watch", tags=["Games of strategies"])


@router.get("/strategies", summary="The strategies")
async def strategies(request: Request) -> list[dict[str, str]]:
    """Return the names of all strategies, and what each of them does."""
    return await work_of(request).run(request, _strategies, needs=WATCHED)


@router.post("", summary="A whole game of a strategy")
async def watch(question: WatchQuestion, request: Request) -> Watched:
    """Return the guesses, the replies, the true replies, and the entropy left after each.

    Games of one setting and one seed have the same secret, and the noise of each turn is the same
    for all strategies.
    """
    return await work_of(request).run(request, partial(_watched, question), needs=WATCHED)
