"""The promises of strategies, scores and formats of strategy trees; boards to try them on.

*Strategies* choose codes, by the belief and the given luck alone. *Scores* are whole numbers that
order guesses as their definition does. *Formats of trees* read what they write.
"""

from __future__ import annotations

import inspect
import math
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.errors import ModelFileError, UnknownNameError
from bnmind.information import entropy
from bnmind.mastermind import Belief, Board, Channel, Reply, reply
from bnmind.mastermind.priors import CodeList
from bnmind.strategies import (
    SCORES,
    STRATEGIES,
    TREE_FORMATS,
    Combination,
    GuessInfo,
    Myopic,
    Needs,
    Score,
    Situation,
    Strategy,
    StrategyTree,
    WeightedEntropy,
    build_tree,
    check_tree,
    strategy_by_name,
    tree_to_json,
)
from bnmind.strategies.tree_files import TreeFormat
from bnmind.testing.promises import Family, Promises, examples

Game = tuple[tuple[int, ...], ...]
"""The guesses of a game, then the secret code."""

SMALL = (
    *(Board(1, 2), Board(1, 5), Board(2, 2), Board(3, 2), Board(2, 4), Board(3, 3)),
    *(Board(2, 2, repeats=False), Board(3, 4, repeats=False), Board(1, 4, repeats=False)),
)
"""Boards of up to 27 codes."""

MANY = (
    *(Board(4, 2), Board(5, 2), Board(3, 4), Board(2, 7), Board(4, 3), Board(6, 2)),
    *(Board(2, 5, repeats=False), Board(4, 4, repeats=False), Board(3, 6, repeats=False)),
)
"""Boards of up to 120 codes."""

PLAYED = (
    *(Board(4, 6), Board(5, 3), Board(3, 9), Board(4, 7), Board(4, 8)),
    *(Board(4, 6, repeats=False), Board(4, 10, repeats=False)),
)
"""Boards that people play, of up to 5040 codes."""

LARGE = (
    *(Board(4, 5, repeats=False), Board(7, 2), Board(5, 5), Board(5, 6, repeats=False)),
    *(Board(2, 15), Board(1, 30), Board(5, 6), Board(5, 8)),
)
"""Other boards, of up to 32,768 codes."""


def games(board: Board, n: int, *, turns: int, seed: int = 0) -> Iterator[Game]:
    """Yield games of random codes.

    Parameters
    ----------
    board
        The board.
    n
        The number of games.
    turns
        The number of guesses in each.
    seed
        The seed of the random codes.

    Examples
    --------
    >>> [len(game) for game in games(Board(3, 3), 2, turns=2)]
    [3, 3]
    """
    rng = np.random.default_rng([seed, board.pegs, board.colors, board.repeats])
    for _ in range(n):
        codes = [board.code(int(i)) for i in rng.integers(board.n_codes, size=turns + 1)]
        # A guess that wins ends the game.
        yield (*(code for code in codes[:-1] if reply(code, codes[-1]) != board.winning), codes[-1])


def relabeled(game: Sequence[Sequence[int]], board: Board, *, seed: int) -> Game:
    """Return a game with its colors and its positions in another order.

    >>> relabeled([(1, 1, 2)], Board(3, 4), seed=1)
    ((2, 1, 1),)
    """
    rng = np.random.default_rng(seed)
    colors = [0, *(rng.permutation(board.colors) + 1).tolist()]
    places = rng.permutation(board.pegs).tolist()
    return tuple(tuple(colors[code[place]] for place in places) for code in game)


_STRATEGIES = Family(
    "strategy",
    room="bnmind.strategies",
    registry=STRATEGIES,
    commands=("strategy",),
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
    for made in examples(_STRATEGIES, strategy):
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
        at = f"{where}, after {_format_turns(board, guesses[:turn], secret)}" if turn else where
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
        where = f"on {board}, after {_format_turns(board, guesses, secret)}"
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
    where = f"on {board}, after {_format_turns(board, asked, secret)}"
    with promises.no_error("it chooses at the end of a game", where):
        chosen, info = strategy.choose(belief, np.random.default_rng(0))
    # A search that gives up says so.
    promises.keep(
        board.code(chosen) == secret or info.note,
        "it guesses a code that it knows, or notes that it found none",
        f"{where}: {board.format_index(chosen)}",
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


def _format_turns(board: Board, guesses: Sequence[Sequence[int]], secret: Sequence[int]) -> str:
    return ", ".join(f"{board.format(guess)} {reply(guess, secret)}" for guess in guesses)


Definition = Callable[[Sequence[int], Board], float]
"""(sizes of the reply classes, the winning class last, board) → the value of a first guess."""

_SCORES = Family("score", room="bnmind.strategies", registry=SCORES, commands=("regret",))
_SAME_VALUE = 1e-6
_CODES = 30
_GUESSES = 24


@checked
def check_score(
    score: Score | str,
    definition: Definition | None = None,
    *,
    boards: Sequence[Board] | None = None,
    thorough: bool = False,
) -> None:
    """Check that a score keeps the promises of scores.

    It is immutable. Its keys are whole numbers that are the same every time, order guesses as the
    values that it shows do, break no tie by the place of a guess, and are right on boards of many
    shapes: compared with a definition if there is one, and otherwise with one another. The
    strategy that it makes chooses a best guess, found by counting the replies of all codes to all
    guesses, and finds one of the same value if colors and positions are renamed.

    Parameters
    ----------
    score
        The score, or the name of a registered one.
    definition
        The value of a first guess, computed slowly and obviously from the sizes of its reply
        classes, ``(replies of the board,)``, with the winning class last. The registered scores
        have definitions.
    boards
        The boards to try; by default many of up to 5040 codes. Name your own board if it is larger:
        a score may be wrong on a board that is not tried.
    thorough
        Whether to try larger boards and more games, which takes seconds.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no score has the name.

    Examples
    --------
    >>> from bnmind.strategies import MostParts
    >>> check_score(MostParts(), lambda classes, board: sum(n > 0 for n in classes))
    >>> check_score(MostParts(), lambda classes, board: max(classes))
    Traceback (most recent call last):
    bnmind.errors.ContractError: the score MostParts(winning_counts=True) breaks a promise: its \
values are those of its definition (on 1x2, classes 2: shown 1, defined 2)
    """
    if isinstance(score, str):
        name = score
        if name not in SCORES:
            raise UnknownNameError("score", name, SCORES)
        promises = _SCORES.check_name(name)
        with promises.no_error("its name makes it"):
            score = SCORES[name]()
        _SCORES.check_export(name, score)
        definition = definition or DEFINITIONS.get(name)
    promises = Promises("score", score)
    promises.value()
    promises.has("minimized", "terms", "shown")
    tried = boards or ((*SMALL, *MANY, *LARGE, *PLAYED) if thorough else (*SMALL, *MANY, *PLAYED))
    for board in tried:
        with promises.pure(example=f"on {board}"):
            _check_board(promises, score, board, definition)
            _check_equal_guesses(promises, score, board, definition)
    with promises.no_error("it has a table for every board and number of codes"):
        _check_boards_agree(promises, score, tried)
    if definition is not None:
        _check_sizes(promises, score, definition)
    small = [board for board in boards or () if board.n_codes <= _CODES]
    if boards is None:
        small = [*SMALL, *MANY] if thorough else [SMALL[4], *SMALL[5:8]]
    for board in small:
        for game in games(board, 6 if thorough else 2, turns=2):
            with promises.no_error("its strategy plays", f"on {board}"):
                _check_player(promises, score, board, game)


def _check_board(
    promises: Promises, score: Score, board: Board, definition: Definition | None
) -> None:
    """Check the table of a score on a board."""
    where = f"on {board}"
    for codes in sorted({1, 2, min(board.n_codes, _CODES), board.n_codes}):
        with promises.no_error("it has a table for every board and number of codes", where):
            terms, again = score.terms(board, codes), score.terms(board, codes)
            classes = _random_classes(board, codes)
            keys = terms.keys(classes, 0)
        arrays = (terms.sizes, terms.weights, terms.shares)
        promises.keep(not any(a.flags.writeable for a in arrays), "its tables are read-only", where)
        promises.keep(
            terms.sizes.shape == terms.shares.shape == (codes + 1,),
            "its table has a term for each size of a class",
            f"{where}, for up to {codes} codes, got {len(terms.sizes)} terms",
        )
        promises.keep(
            terms.weights.shape[1] == len(board.true_replies),
            "it has a weight for each reply",
            where,
        )
        weighs = terms.weights.any(axis=1)
        promises.keep(
            weighs.all(),
            "it tells guesses apart at every turn",
            f"{where}, all replies weigh nothing at turn {int(np.argmin(weighs)) + 1}",
        )
        promises.keep(
            keys.tolist() == again.keys(classes, 0).tolist(), "it is the same every time", where
        )
        _check_ties(promises, score, board, classes)
        with promises.no_error("it shows every key as a number", where):
            shown = [float(score.shown(board, int(key), codes)) for key in keys]
        direction = 1 if score.minimized else -1
        ranked = [direction * shown[row] for row in np.argsort(keys, kind="stable")]
        promises.keep(
            all(a <= b + 1e-9 * max(1, abs(a)) for a, b in pairwise(ranked)),
            "a better key is never shown as a worse value",
            f"{where}, with {codes} codes; minimized is {score.minimized}",
        )
        if definition is None:
            continue
        for row, found in zip(classes.tolist(), shown, strict=True):
            value = definition(row, board)
            promises.keep(
                math.isclose(found, value, rel_tol=_SAME_VALUE, abs_tol=_SAME_VALUE),
                "its values are those of its definition",
                f"{where}, classes {_class_sizes(row)}: shown {found:g}, defined {value:g}",
            )


def _check_equal_guesses(
    promises: Promises, score: Score, board: Board, definition: Definition | None
) -> None:
    """Check that guesses of the same value by definition have the same key, and tie."""
    n_replies = len(board.true_replies)
    if definition is None or n_replies < 8 or board.n_codes < 20:
        return
    for rows in _EQUAL:
        codes = sum(rows[0])
        padded = np.array([[*row[:-1], *[0] * (n_replies - 8), row[-1]] for row in rows])
        keys = score.terms(board, codes).keys(padded, 0).tolist()
        valued = zip(rows, keys, [definition(row, board) for row in padded.tolist()], strict=True)
        for (a, key, value), (b, other, right) in combinations(valued, 2):
            promises.keep(
                key == other or not math.isclose(value, right, rel_tol=1e-12, abs_tol=1e-12),
                "guesses of the same value have the same key",
                f"on {board}, classes {_class_sizes(a)} and {_class_sizes(b)}:"
                f" keys {key} and {other}",
            )


_EQUAL = (
    (
        *((6, 1, 1, 1, 1, 1, 1, 0), (3, 3, 2, 2, 2, 0, 0, 0), (2, 2, 2, 3, 3, 0, 0, 0)),
        *((5, 3, 3, 0, 0, 0, 0, 1), (5, 3, 3, 1, 0, 0, 0, 0)),
    ),
    ((10, 2, 2, 2, 2, 1, 1, 0), (5, 5, 4, 4, 2, 0, 0, 0), (2, 4, 4, 5, 5, 0, 0, 0)),
)
"""Classes with equal values of one score or another: Σ n log n, for example."""


def _check_sizes(promises: Promises, score: Score, definition: Definition) -> None:
    """Check a class of every size on a board, and tables of every length."""
    board, n_replies = PLAYED[0], len(PLAYED[0].true_replies)
    whole = [(n, board.n_codes - n) for n in range(board.n_codes + 1)]
    short = [(codes - codes // 3, codes // 3) for codes in range(1, 3 * _CODES)]
    for rows in (whole, *[[one] for one in short]):
        codes = sum(rows[0])
        padded = np.array([[*row, *[0] * (n_replies - 2)] for row in rows])
        keys = score.terms(board, codes).keys(padded, 0).tolist()
        for row, key, classes in zip(rows, keys, padded.tolist(), strict=True):
            found, value = score.shown(board, key, codes), definition(classes, board)
            promises.keep(
                math.isclose(found, value, rel_tol=_SAME_VALUE, abs_tol=_SAME_VALUE),
                "its values are those of its definition",
                f"on {board}, classes {_class_sizes(row)}: shown {found:g}, defined {value:g}",
            )


def _random_classes(board: Board, codes: int) -> NDArray[np.int64]:
    """Return class sizes of random guesses, ``(guesses, replies)``; the last class has 0 or 1."""
    rng = np.random.default_rng([1, codes])
    n_replies = len(board.true_replies)
    rows = []
    for number in range(_GUESSES):
        winning = number % 2
        shares = rng.dirichlet(np.full(n_replies - 1, (0.2, 1.0, 5.0)[number % 3]))
        rows.append([*rng.multinomial(codes - winning, shares), winning])
    return np.array(rows, dtype=np.int64)


def _class_sizes(classes: Sequence[int]) -> str:
    return " ".join(str(n) for n in classes if n)


def _check_ties(promises: Promises, score: Score, board: Board, classes: NDArray[np.int64]) -> None:
    """Check that the best guesses have the smallest key, wherever and however often they stand."""
    codes = int(classes[0].sum())
    terms, where = score.terms(board, codes), f"on {board}, with {codes} codes"
    telling = classes.max(axis=1) < codes
    if telling.any():
        classes = classes[telling]
    keys = terms.keys(classes, 0)
    best = set(terms.best(classes, 0).tolist())
    smallest = set(np.flatnonzero(keys == keys.min()).tolist())
    right = best == smallest if terms.combination is not Combination.SORTED else best <= smallest
    promises.keep(right and best, "the best guesses are those of the smallest key", where)
    twice = terms.best(np.concatenate([classes, classes]), 0).tolist()
    promises.keep(
        set(twice) == best | {row + len(classes) for row in best},
        "equal guesses are equally good",
        where,
    )
    reverse = terms.best(classes[::-1], 0)
    promises.keep(
        {len(classes) - 1 - int(row) for row in reverse} == best,
        "the order of the guesses does not matter",
        where,
    )
    if terms.shares.any():
        return
    promises.keep(
        keys.min() >= min(0, terms.winning),
        "no guess has a better key than one that leaves single codes",
        where,
    )


def _check_boards_agree(promises: Promises, score: Score, boards: Sequence[Board]) -> None:
    """Boards on which all replies weigh alike give the same classes the same value."""
    n = 8  # codes
    found: dict[str, float] = {}
    for board in boards:
        n_replies = len(board.true_replies)
        terms = score.terms(board, n)
        if n_replies < 5 or len(np.unique(terms.weights)) > 1:
            continue
        rows = [(8, 0, 0, 0, 0), (4, 4, 0, 0, 0), (3, 2, 2, 0, 1), (5, 3, 0, 0, 0), (2, 2, 2, 1, 1)]
        padded = np.array([[*row[:-1], *[0] * (n_replies - 5), row[-1]] for row in rows])
        keys = terms.keys(padded, 0)
        values = [score.shown(board, int(key), n) for key in keys]
        if not found:
            first, expected = board, values
            found = {str(board): 1.0}
            continue
        for row, value, other in zip(rows, values, expected, strict=True):
            promises.keep(
                math.isclose(value, other, rel_tol=_SAME_VALUE, abs_tol=_SAME_VALUE),
                "the same classes have the same value on every board that weighs replies alike",
                f"classes {_class_sizes(row)}: {value:g} on {board}, {other:g} on {first}",
            )


def _check_player(promises: Promises, score: Score, board: Board, game: Game) -> None:
    """Check that the strategy of a score chooses a best guess, found by counting."""
    strategy = Myopic(score)
    *guesses, secret = game
    where = f"on {board}, guesses {_codes(board, guesses)}, code {board.format(secret)}"
    values = []
    for labels in (game, relabeled(game, board, seed=3)):
        belief = strategy.start(Channel.exact(board).revealed())
        for guess in labels[:-1]:
            belief = belief.update(guess, reply(guess, labels[-1]))
        chosen, info = strategy.choose(belief, np.random.default_rng(0))
        possible = [
            code
            for code in map(board.code, range(board.n_codes))
            if all(reply(g, code) == reply(g, labels[-1]) for g in labels[:-1])
        ]
        place = {answer: number for number, answer in enumerate(board.true_replies)}
        classes = np.zeros((board.n_codes, len(place)), dtype=np.int64)
        for number in range(board.n_codes):
            for code in possible:
                classes[number, place[reply(board.code(number), code)]] += 1
        best = score.terms(board, len(possible)).best(classes, len(labels) - 1).tolist()
        promises.keep(
            chosen in best,
            "its strategy makes a guess that is best of all, by counting the replies of all codes",
            where,
        )
        promises.keep(info.tied == len(best), "its strategy counts the best guesses", where)
        among = {board.index(code) for code in possible}
        promises.keep(
            chosen in among or not among & set(best), "possible codes come first in ties", where
        )
        values.append((info.score, info.tied))
    promises.keep(values[0] == values[1], "renamed colors and positions change no value", where)


def _codes(board: Board, codes: Sequence[Sequence[int]]) -> str:
    return " ".join(board.format(code) for code in codes)


def _entropy_left(classes: Sequence[int], board: Board) -> float:
    """Σ n_r log₂ n_r / n."""
    return sum(n * math.log2(n) for n in classes if n) / sum(classes)


def _weighted(classes: Sequence[int], board: Board) -> float:
    """Σ w_r p_r log₂(1/p_r) at the first turn; all weights are 1 on boards without weights."""
    score = SCORES["weighted-entropy"]()
    weights = (1000,) * len(classes)
    if isinstance(score, WeightedEntropy) and board == score.board:
        weights = score.weights[0]
    n = sum(classes)
    terms = [c / n * math.log2(n / c) if c else 0.0 for c in classes]
    return math.fsum(w / 1000 * term for w, term in zip(weights, terms, strict=True))


DEFINITIONS: Mapping[str, Definition] = MappingProxyType(
    {
        "maxmin": lambda classes, board: max(classes),
        "irving": lambda classes, board: sum(n * n for n in classes) / sum(classes),
        "neuwirth": _entropy_left,
        "larmouth": lambda classes, board: (
            _entropy_left(classes, board) - 2 * (classes[-1] > 0) / sum(classes)
        ),
        "kooi": lambda classes, board: sum(n > 0 for n in classes),
        "weighted-entropy": _weighted,
    }
)
"""The readable definition of each registered score."""


_TREES = Family(
    "format of trees",
    room="bnmind.strategies",
    registry=TREE_FORMATS,
    commands=("strategy",),
    suffixes=True,
)
_OTHER = ("", "{}", "no tree", "# bnmind strategy tree 9, board 4x6", "digraph { a -> b }")


@checked
def check_tree_format(form: TreeFormat | str) -> None:
    """Check that a format of strategy trees keeps the promises of such formats.

    It says in a line what it is. A tree that is written and read is the same tree, and is written
    as the same text again. A text that is cut, or is something else, is refused by a
    `ModelFileError`. A format without a reader writes every tree.

    Parameters
    ----------
    form
        The format, or the suffix of a registered one, such as ``".json"``.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no format has the suffix.

    Examples
    --------
    >>> check_tree_format(".dot")
    """
    if isinstance(form, str):
        _TREES.check_name(form)
        form = TREE_FORMATS[form]
    promises = Promises("format of trees", form)
    promises.about()
    promises.has("to_text")
    for about, tree in _trees().items():
        with promises.no_error("it writes every tree", about):
            text = form.to_text(tree)
            promises.keep(form.to_text(tree) == text, "it writes the same text each time", about)
        if form.from_text is None:
            continue
        with promises.no_error("it reads what it writes", about):
            again = form.from_text(text)
            check_tree(again)
        promises.keep(
            tree_to_json(again) == tree_to_json(tree), "a tree that is read is the same", about
        )
        promises.keep(form.to_text(again) == text, "it is written as the same text again", about)
        _check_refusal(promises, form.from_text, text[: len(text) // 2], f"half of {about}")
    if form.from_text is not None:
        for text in _OTHER:
            _check_refusal(promises, form.from_text, text, repr(text))


def _check_refusal(
    promises: Promises, from_text: Callable[[str], StrategyTree], text: str, about: str
) -> None:
    promises.refuse(
        lambda: from_text(text),
        "it refuses a text that is no tree by a ModelFileError",
        about,
        kinds=ModelFileError,
    )


@cache
def _trees() -> dict[str, StrategyTree]:
    """Return trees of several kinds, built when they are needed, which compiles kernels."""
    exact, other = Channel.exact(Board(3, 3)), Channel.exact(Board(2, 3, repeats=False))
    return {
        "a tree of knuth": build_tree(strategy_by_name("knuth"), exact.revealed()),
        "a tree of irving": build_tree(strategy_by_name("irving"), exact),
        "a tree cut after a guess": build_tree(strategy_by_name("kooi"), exact, max_guesses=1),
        "a tree without repeats": build_tree(strategy_by_name("irving"), other.revealed()),
    }
