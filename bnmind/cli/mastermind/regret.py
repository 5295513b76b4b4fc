"""``bnmind regret``: the loss of each guess of a game against the best guess."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from bnmind.cli.mastermind.after_game import JUDGING, review_of, show_review
from bnmind.cli.mastermind.setting import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    Colors,
    Noise,
    NoRepeats,
    Pegs,
)
from bnmind.cli.shared.command import Json, OneOf
from bnmind.cli.shared.terminal import (
    Report,
    interruptible,
    plain_table,
    show_table,
    tell_json,
    terminal,
    working,
)
from bnmind.errors import BnmindError, TooLargeError

if TYPE_CHECKING:
    from bnmind.mastermind import Board, Channel, Turn
    from bnmind.strategies import GuessRegret

__all__ = ["regret"]

OPTIMAL = "optimal"
SCORE_ELSE = "neuwirth"
"""The score to use where the optimum cannot be computed."""

MOST_TRIED = 300_000
"""The largest number of guesses to try for the optimum: some seconds, 4x7 from the start."""


def regret(
    history: str,
    *,
    by: Annotated[str | None, OneOf("bnmind.strategies:SCORES", "Scores")] = None,
    noise: Noise = "exact",
    pegs: Pegs = DEFAULT_PEGS,
    colors: Colors = DEFAULT_COLORS,
    no_repeats: NoRepeats = False,
    as_json: Json = False,
) -> None:
    """Show the loss of each guess of a game against the best guess at that point.

    If replies are true, the value of a guess is the mean number of guesses that the game still
    takes if all later guesses are optimal. Where this cannot be computed, or with --by NAME,
    the value is the score of a strategy: knuth, or one from the list below.

    With --noise, a guess is worth the information that its reply should give about the code,
    in bits.

    Parameters
    ----------
    history
        Guesses and the replies, like "1123 1b1w, 2345 0b2w".
    by
        optimal, or the strategy whose score to use.

    Examples
    --------
    bnmind regret "1122 0b1w, 3456 1b1w, 3344 0b0w"
    bnmind regret "1123 1b1w, 1145 0b2w" --noise false:0.2
    bnmind regret "1111 1b0w, 1234 1b1w" --by irving --json
    """
    from bnmind.lab.mastermind.advice import ending
    from bnmind.mastermind import Board, Channel, parse_history, parse_noise
    from bnmind.strategies.analysis.regret import codes_left

    board = Board(pegs, colors, repeats=not no_repeats)
    turns = parse_history(board, history)
    if not turns:
        raise BnmindError("the history is empty; give at least one guess and its reply")
    channel = parse_noise(board, noise)
    if not channel.is_exact:
        if by is not None:
            raise BnmindError("expected --by without --noise: under noise, regret is in bits")
        return _under_noise(channel, turns, as_json=as_json)
    # Both raise early if there is no such game.
    interruptible(lambda: codes_left(board, turns))
    ending(Channel.exact(board), turns, goes_on=False)
    if by is not None and by != OPTIMAL:
        name = by
        judged = working(
            JUDGING,
            lambda report: [(name, r) for r in _by_score(board, turns, name, report)],
        )
    else:
        judged = working(
            JUDGING, lambda report: _by_optimum(board, turns, report, or_score=by is None)
        )
    if as_json:
        tell_json(_as_json(board, turns, judged))
    else:
        _show(board, turns, judged)
    return None


def _under_noise(channel: Channel, turns: tuple[Turn, ...], *, as_json: bool) -> None:
    """Print the information of each guess, and of the most informative one."""
    from bnmind.lab.mastermind.advice import ending, start

    board = channel.board
    won = ending(channel, turns, goes_on=False)
    reviewed = review_of(start(channel), turns, won=won)
    if not as_json:
        return show_review(terminal(), board, turns, reviewed)
    rows = [
        {
            "guess": board.format(one.guess),
            "reply": str(turn.reply),
            "information": one.information,
            "best": board.format(one.best),
            "best_information": one.best_information,
            "regret": one.regret,
            "chance": one.chance,
            "told": one.told,
        }
        for turn, one in zip(turns, reviewed, strict=True)
    ]
    return tell_json({"board": str(board), "noise": channel.name, "guesses": rows})


def _by_optimum(
    board: Board, turns: tuple[Turn, ...], report: Report, *, or_score: bool
) -> list[tuple[str, GuessRegret]]:
    """Return the regret of each guess by the optimum, else by a score, and the name of either."""
    from bnmind.strategies import exact_regret
    from bnmind.strategies.optimal.board_search import SearchRules

    judged: list[tuple[str, GuessRegret]] = []
    rules = SearchRules(max_tried=MOST_TRIED)
    for number in range(1, len(turns) + 1):
        report(number - 1, len(turns))
        try:
            judged.append((OPTIMAL, exact_regret(board, turns[:number], rules=rules)))
        except TooLargeError:
            if not or_score:
                raise
            judged.append((SCORE_ELSE, _by_score(board, turns[:number], SCORE_ELSE)[-1]))
    return judged


def _by_score(
    board: Board, turns: tuple[Turn, ...], name: str, report: Report | None = None
) -> tuple[GuessRegret, ...]:
    from bnmind.strategies import regrets, strategy_by_name
    from bnmind.strategies.trees.myopic_tree import myopic_rule

    rule = myopic_rule(strategy_by_name(name))
    if rule is None:
        raise BnmindError(f"expected optimal or a strategy of one score for --by, got {name}")
    return regrets(board, turns, rule.score, progress=report)


def _show(board: Board, turns: tuple[Turn, ...], judged: list[tuple[str, GuessRegret]]) -> None:

    console = terminal()
    table = plain_table("guess", "reply", "codes", "judged by", "value", "best", "value", "lost")
    for turn, (judge, row) in zip(turns, judged, strict=True):
        table.add_row(
            board.format(row.guess),
            str(turn.reply),
            f"{row.codes:,}",
            judge,
            f"{row.value:.3f}",
            board.format(row.best),
            f"{row.best_value:.3f}",
            f"{row.regret:.3f}",
        )
    show_table(console, table)
    regrets = [row.regret for judge, row in judged if judge == OPTIMAL]
    if regrets:
        console.print(f"Lost against optimal guesses: {sum(regrets):.3f} guesses.")


def _as_json(
    board: Board, turns: tuple[Turn, ...], judged: list[tuple[str, GuessRegret]]
) -> dict[str, object]:
    return {
        "board": str(board),
        "guesses": [
            {
                "guess": board.format(row.guess),
                "reply": str(turn.reply),
                "possible_codes": row.codes,
                "is_possible": row.is_possible,
                "by": judge,
                "value": row.value,
                "best": board.format(row.best),
                "best_value": row.best_value,
                "regret": row.regret,
            }
            for turn, (judge, row) in zip(turns, judged, strict=True)
        ],
    }
