"""What each guess of a game lost against the best guess at that point, in guesses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import BnmindError, ImpossibleEvidenceError
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn, format_history
from bnmind.mastermind.reply_table import replies_to
from bnmind.strategies.branch_and_bound import BoardSearch, SearchRules, Solved
from bnmind.strategies.regret import GuessRegret

__all__ = ["exact_regrets"]


def exact_regrets(
    board: Board, turns: Sequence[Turn], *, rules: SearchRules | None = None
) -> tuple[GuessRegret, ...]:
    """Return what each guess of a game lost, replies being taken for the truth.

    A guess is worth the mean number of guesses that the game then takes, itself included, if
    all that follow are optimal; all codes that are possible are equally likely.

    Parameters
    ----------
    board
        The board.
    turns
        The game; the reply to the last guess does not matter.
    rules
        What the best guesses are: when a game is over, and which are considered. The number of
        guesses is not limited.

    Raises
    ------
    BnmindError
        If the rules limit the number of guesses.
    ImpossibleEvidenceError
        If no code agrees with the replies before a guess.
    InvalidCodeError
        If a guess is no code of the board.
    TooLargeError
        If the board has more codes than `MAX_SEARCHED_CODES`, or it takes too much work.

    Examples
    --------
    >>> from bnmind.mastermind import parse_history
    >>> board = Board(4, 6)
    >>> game = parse_history(board, "1122 0b1w, 3456 1b1w, 3344 0b0w")
    >>> [(round(turn.regret, 3), turn.codes) for turn in exact_regrets(board, game)]
    [(0.059, 1296), (0.207, 256), (0.133, 60)]
    """
    rules = SearchRules() if rules is None else rules
    if rules.max_guesses is not None:
        raise BnmindError(f"expected rules without a limit, got {rules.max_guesses} guesses")
    search = BoardSearch(board, rules)
    possible = np.arange(board.n_codes)
    found: list[GuessRegret] = []
    for number, turn in enumerate(turns):
        if len(possible) == 0:
            before = format_history(board, turns[:number])
            raise ImpossibleEvidenceError(
                f"expected replies that some code gives, got {before}", {"history": before}
            )
        guess, before_it = board.index(turn.guess), [board.index(t.guess) for t in turns[:number]]
        replies = replies_to(board, turn.guess)[possible]
        best = _solved(search, possible, before_it)
        own = len(possible) + sum(
            _solved(search, possible[replies == place], [*before_it, guess]).total
            for place in np.unique(replies).tolist()
            if place != len(board.true_replies) - 1
        )
        found.append(
            GuessRegret(
                turn.guess,
                turn.guess if own == best.total else board.code(best.guess),
                own / len(possible),
                best.total / len(possible),
                len(possible),
                guess in possible,
                (own - best.total) / len(possible),
            )
        )
        if turn.reply in board.true_replies:
            possible = possible[replies == board.true_replies.index(turn.reply)]
        else:
            possible = possible[:0]
    return tuple(found)


def _solved(search: BoardSearch, codes: NDArray[np.intp], guesses: Sequence[int]) -> Solved:
    solved = search.solve(codes, guesses)
    assert solved is not None  # some number of guesses is enough
    return solved
