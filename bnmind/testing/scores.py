"""The promises of scores: whole numbers that order guesses as their definition does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.errors import UnknownNameError
from bnmind.mastermind import Board, Channel, reply
from bnmind.strategies import SCORES, Combination, Myopic, Score, WeightedEntropy
from bnmind.testing.boards import LARGE, MANY, PLAYED, SMALL, Game, games, relabeled
from bnmind.testing.promises import Promises
from bnmind.testing.registered import Family

__all__ = ["DEFINITIONS", "Definition", "check_score"]

Definition = Callable[[Sequence[int], Board], float]
"""(sizes of the reply classes, the winning class last, board) → the value of a first guess."""

_FAMILY = Family("score", room="bnmind.strategies", registry=SCORES, commands=("regret",))
_CLOSE = 1e-6
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
        promises = _FAMILY.check_name(name)
        with promises.no_error("its name makes it"):
            score = SCORES[name]()
        _FAMILY.check_export(name, score)
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
                math.isclose(found, value, rel_tol=_CLOSE, abs_tol=_CLOSE),
                "its values are those of its definition",
                f"{where}, classes {_text(row)}: shown {found:g}, defined {value:g}",
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
                f"on {board}, classes {_text(a)} and {_text(b)}: keys {key} and {other}",
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
                math.isclose(found, value, rel_tol=_CLOSE, abs_tol=_CLOSE),
                "its values are those of its definition",
                f"on {board}, classes {_text(row)}: shown {found:g}, defined {value:g}",
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


def _text(classes: Sequence[int]) -> str:
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
                math.isclose(value, other, rel_tol=_CLOSE, abs_tol=_CLOSE),
                "the same classes have the same value on every board that weighs replies alike",
                f"classes {_text(row)}: {value:g} on {board}, {other:g} on {first}",
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
