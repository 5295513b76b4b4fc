"""The promises of strategies: they choose codes, by the belief and the given luck alone."""

from __future__ import annotations

import inspect
import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind.information import entropy
from bnmind.mastermind import Belief, Board, Channel, Reply, reply
from bnmind.mastermind.priors import CodeList
from bnmind.strategies import (
    STRATEGIES,
    GuessInfo,
    Needs,
    Situation,
    Strategy,
    strategy_by_name,
)
from bnmind.testing.boards import MANY, SMALL, Game, games, relabeled
from bnmind.testing.promises import Promises
from bnmind.testing.registered import Family, examples

__all__ = ["check_strategy"]

_FAMILY = Family(
    "strategy",
    room="bnmind.strategies",
    registry=STRATEGIES,
    commands=("strategy",),
    rooms=("bnmind.strategies.snyder", "bnmind.strategies.evolutionary"),
)
_PARAMETERS = {"start": ["channel", "prior"], "choose": ["belief", "rng", "situation"]}
_CLOSE = 1e-9


@checked
def check_strategy(
    strategy: Strategy | str,
    *,
    boards: Sequence[Board] | None = None,
    symmetric: bool = True,
    thorough: bool = False,
) -> None:
    """Check that a strategy keeps the promises of strategies.

    It is a value that pickle restores. It starts on every board, with true and with false replies.
    What it chooses is a code, depends on the belief, the situation and the given random generator
    alone, and is the same if they are the same; if the strategy says that it is `deterministic`,
    the generator does not matter. It also chooses without a memory, in the middle of any game. Its
    belief starts with the prior that it is given. The belief takes in whatever may be reported. The
    information that it reports about its guess is that of the guess, by a slow and obvious
    computation. Renamed colors and positions do not change its score and its ties, if it is
    deterministic and replies are true. It guesses a code that it knows; a search that found none
    says so in `GuessInfo.note`.

    Parameters
    ----------
    strategy
        The strategy, or the name of a registered one, with an argument or without; or
        ``module:name`` for one in a module of yours.
    boards
        The boards to play on; by default small ones of several shapes. Give them if the
        strategy does not play on all boards.
    symmetric
        Whether it treats all colors and positions alike, but for ties.
    thorough
        Whether to play more games, on more boards.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no strategy has the name.

    Examples
    --------
    >>> from bnmind.strategies import MapCode
    >>> check_strategy(MapCode())
    """
    played = tuple(boards or ((*SMALL, *MANY[:3]) if thorough else (SMALL[4], SMALL[5], SMALL[7])))
    if not isinstance(strategy, str):
        _check_strategy(strategy, played, symmetric=symmetric, thorough=thorough)
        return
    if strategy.partition(":")[0] not in STRATEGIES:
        own = strategy_by_name(strategy)
        _check_strategy(own, played, symmetric=symmetric, thorough=thorough)
        return
    for made in examples(_FAMILY, strategy):
        _check_strategy(made, played, symmetric=symmetric, thorough=thorough)
    if strategy in STRATEGIES:
        promises = Promises("strategy", strategy)
        plain = STRATEGIES[strategy]()
        promises.keep(plain.name == strategy, "its name is that of the registry", plain.name)
        promises.keep(strategy_by_name(strategy) == plain, "`strategy_by_name` makes it")


def _check_strategy(
    strategy: Strategy, boards: Sequence[Board], *, symmetric: bool, thorough: bool
) -> None:
    promises = Promises("strategy", strategy)
    _check_form(promises, strategy)
    moved = []
    for board in boards:
        plain = Channel.exact(board)
        noisy = (Channel.independent_error(board, 0.2), Channel.false_reply(board, 0.1))
        for channel in (plain, *noisy[: 2 if thorough else 1]):
            for number, game in enumerate(games(board, 2 if thorough else 1, turns=2)):
                moved.append(_check_game(promises, strategy, channel, game, number))
    promises.keep(
        strategy.deterministic == (not any(moved)),
        "it says `deterministic` if, and only if, the random generator does not matter",
        f"deterministic is {strategy.deterministic}",
    )
    for board in boards if symmetric and strategy.deterministic else ():
        for game in games(board, 3 if thorough else 1, turns=2, seed=1):
            _check_symmetry(promises, strategy, board, game)
    for board in boards:
        _check_end(promises, strategy, board)
    _check_prior(promises, strategy, boards[0])


def _check_form(promises: Promises, strategy: Any) -> None:
    promises.has("name", "deterministic", "needs", "start", "choose")
    for name, expected in _PARAMETERS.items():
        found = list(inspect.signature(getattr(strategy, name)).parameters)
        promises.keep(found == expected, f"the parameters of `{name}` are {expected}", str(found))
    promises.keep(strategy.name and strategy.name.strip() == strategy.name, "it has a name")
    promises.keep(isinstance(strategy.needs, Needs), "its `needs` are one of `Needs`")
    with promises.no_error("pickle stores and restores it, as parallel work needs"):
        again = pickle.loads(pickle.dumps(strategy))
    promises.keep(again == strategy, "pickle restores it as it was")


def _check_game(
    promises: Promises,
    strategy: Strategy,
    channel: Channel,
    game: Game,
    number: int,
) -> bool:
    """Check the choices in a game; return whether the generator mattered to one of them."""
    board, (*guesses, secret) = channel.board, game
    where = f"on {board} with noise {channel.name}"
    with promises.no_error("it starts on every board, with true and with false replies", where):
        belief = strategy.start(channel.revealed())
    random = False
    memory: object = None
    for turn in range(len(guesses) + 1):
        at = f"{where}, after {_text(board, guesses[:turn], secret)}" if turn else where
        info = _check_choice(promises, strategy, belief, at)
        for situation in (Situation(memory=memory, guesses_left=3), Situation(guesses_left=1)):
            with promises.no_error("it chooses with and without a memory", at):
                guess, later = strategy.choose(belief, np.random.default_rng(1), situation)
            promises.keep(0 <= guess < board.n_codes, "it chooses a code of the board", at)
            memory = later.memory
        drawn = {strategy.choose(belief, np.random.default_rng(s))[0] for s in range(2, 8)}
        random |= len(drawn | {info.guess}) > 1
        if turn == 0 and number == 0:
            for report in belief.channel.reports:
                if report != board.winning and _may_be(belief, board.code(info.guess), report):
                    with promises.no_error("the belief takes in what may be reported", at):
                        belief.update(board.code(info.guess), report)
        if turn < len(guesses):
            belief = belief.update(guesses[turn], reply(guesses[turn], secret))
    return random


def _may_be(belief: Belief, guess: Sequence[int], report: Reply) -> bool:
    """Return whether a report can come: some code explains it, or reports may be false."""
    return not belief.channel.is_exact or report in belief.channel.reports


def _check_choice(promises: Promises, strategy: Strategy, belief: Belief, where: str) -> GuessInfo:
    """Check that the choice is a code, repeatable, and what is said of it is right."""
    board = belief.board
    with promises.no_error("it chooses from every belief", where), promises.pure(example=where):
        history = belief.history
        guess, info = strategy.choose(belief, np.random.default_rng(1))
        again, _ = strategy.choose(belief, np.random.default_rng(1))
    promises.keep(belief.history == history, "a call does not change what it is given", where)
    promises.keep(
        isinstance(guess, int | np.integer) and 0 <= guess < board.n_codes,
        "it chooses a code of the board",
        f"{where}: {guess}",
    )
    promises.keep(isinstance(info, GuessInfo), "it gives its reasons as a `GuessInfo`", where)
    promises.keep(info.guess == guess, "its reasons are those of its guess", where)
    promises.keep(info.tied >= 1, "at least one guess has the best score", where)
    promises.keep(again == guess, "the same belief and the same luck lead to the same guess", where)
    masses = getattr(belief, "masses", None)
    # A belief that learns the noise mixes several channels, and knows its own information.
    exact = masses is not None and hasattr(belief, "codes") and not hasattr(belief, "information")
    if exact:
        _check_information(promises, belief, info, where)
    return info


def _check_information(promises: Promises, belief: Any, info: GuessInfo, where: str) -> None:
    """Check the information about the guess by the definition, over all codes."""
    board, channel = belief.board, belief.channel
    p = np.asarray(belief.codes.probabilities, dtype=np.float64)
    place = {answer: number for number, answer in enumerate(board.true_replies)}
    guess = board.code(info.guess)
    rows = [channel.matrix[place[reply(guess, board.code(i))]] for i in range(board.n_codes)]
    joint = p[:, None] * np.array(rows)  # (codes, reports)
    reported = joint.sum(axis=0)
    left = math.fsum(
        float(share) * float(entropy(joint[:, number] / share))
        for number, share in enumerate(reported)
        if share > 0
    )
    gained = float(entropy(p)) - left
    for name, found, right in (
        ("information", info.information, gained),
        ("expected_entropy", info.expected_entropy, left),
    ):
        promises.keep(
            math.isnan(found) or math.isclose(found, right, rel_tol=_CLOSE, abs_tol=1e-7),
            f"the `{name}` that it reports is that of its guess",
            f"{where}, guess {board.format(guess)}: {found:g}, right is {right:g}",
        )


def _check_symmetry(promises: Promises, strategy: Strategy, board: Board, game: Game) -> None:
    """Check that renamed colors and positions change neither the score nor the ties."""
    found = []
    for labels in (game, relabeled(game, board, seed=3)):
        *guesses, secret = labels
        belief = strategy.start(Channel.exact(board).revealed())
        for guess in guesses:
            belief = belief.update(guess, reply(guess, secret))
        _, info = strategy.choose(belief, np.random.default_rng(0))
        where = f"on {board}, after {_text(board, guesses, secret)}"
        found.append((info.score, info.tied, where))
    (score, tied, where), (other, also, there) = found
    promises.keep(
        tied == also and np.isclose(score, other, rtol=1e-9, atol=1e-9, equal_nan=True),
        "renamed colors and positions change neither its score nor its ties",
        f"{where}: {score:g}, {tied} tied; {there}: {other:g}, {also} tied",
    )


def _check_end(promises: Promises, strategy: Strategy, board: Board) -> None:
    """Check that a code that is known is guessed."""
    rng = np.random.default_rng(board.n_codes)
    secret = board.code(int(rng.integers(board.n_codes)))
    belief = strategy.start(Channel.exact(board).revealed())
    asked = []
    possible = [board.code(i) for i in range(board.n_codes)]
    while len(possible) > 1:
        guess = board.code(int(rng.integers(board.n_codes)))
        answer = reply(guess, secret)
        fitting = [code for code in possible if reply(guess, code) == answer]
        if guess == secret or len(fitting) == len(possible):
            others = [code for code in possible if code != secret]
            guess = others[0]
            answer = reply(guess, secret)
            fitting = [code for code in possible if reply(guess, code) == answer]
        belief, possible = belief.update(guess, answer), fitting
        asked.append(guess)
    where = f"on {board}, after {_text(board, asked, secret)}"
    with promises.no_error("it chooses at the end of a game", where):
        chosen, info = strategy.choose(belief, np.random.default_rng(0))
    # A search that gives up says so.
    promises.keep(
        board.code(chosen) == secret or info.note,
        "it guesses a code that it knows, or notes that it found none",
        f"{where}: {board.code_text(chosen)}",
    )


def _check_prior(promises: Promises, strategy: Strategy, board: Board) -> None:
    """Check that the belief starts with the given prior, unless it has no probabilities."""
    codes = np.array([board.code(i) for i in range(board.n_codes)], dtype=np.uint8)
    rising = np.arange(1.0, board.n_codes + 1)
    one = np.eye(board.n_codes)[board.n_codes // 2]
    for weights, about in ((rising, "rising probabilities"), (one, "one possible code")):
        where = f"on {board}, a prior of {about}"
        with promises.no_error("it starts with any prior", where):
            prior = CodeList(board, codes, weights / weights.sum())
            belief = strategy.start(Channel.exact(board).revealed(), prior)
            guess, _ = strategy.choose(belief, np.random.default_rng(0))
        promises.keep(0 <= guess < board.n_codes, "it chooses a code of the board", where)
        found = getattr(getattr(belief, "codes", None), "probabilities", None)
        promises.keep(
            found is None
            or np.allclose(found, prior.distribution().probabilities, rtol=1e-9, atol=1e-12),
            "its belief starts with the prior that it is given",
            where,
        )


def _text(board: Board, guesses: Sequence[Sequence[int]], secret: Sequence[int]) -> str:
    return ", ".join(f"{board.format(guess)} {reply(guess, secret)}" for guess in guesses)
