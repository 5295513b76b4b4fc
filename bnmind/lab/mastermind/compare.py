"""Comparisons of strategies on the same secrets with the same luck, and their files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, astuple, dataclass, fields, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import in_words, many
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.lab.mastermind.comparison import (
    Comparison,
    GameRow,
    comparison_title,
    plot_lengths,
)
from bnmind.lab.mastermind.games import Ending, Guesses, Revealed
from bnmind.lab.mastermind.setting import (
    GameSeries,
    GameSetting,
    Player,
    are_all_games,
    format_ending,
    format_prior,
    learns,
    series_faults,
)
from bnmind.lab.plots import plot_differences
from bnmind.lab.result_files import png, svg, write_files
from bnmind.lab.statistics import Enough, RunningDifferences
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.prior import Prior
from bnmind.strategies.strategy import Strategy

# --- Comparisons of strategies on the same secrets with the same luck -----------------------------


MAX_ROWS = 2**21
"""The largest number of games of all strategies in a comparison: about 600 MB."""


@checked
def compare(
    strategies: Sequence[Strategy],
    channel: Channel,
    *,
    games: int | None = 1000,
    seed: int = 0,
    max_guesses: int = 100,
    assumed: Channel | None = None,
    prior: Prior | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare strategies on the same secrets with the same luck.

    Each game has its own seed. The seed and the strategy determine the game, so games do not depend
    on each other or on their order. A game ends when the code is guessed. The comparison caches the
    choices of deterministic strategies, since many games have the same beginning. A `Contest` has
    further options: other endings, a prior that the strategies assume wrongly, and matches.

    Parameters
    ----------
    strategies
        The strategies, with different names.
    channel
        The channel that reports the replies.
    games
        The number of games of each strategy; None to play every code of the board once.
    seed
        The seed from which the seeds of the games are drawn, not negative.
    max_guesses
        The limit of guesses in a game. A longer game is lost and counts as this number.
    assumed
        The channel that the strategies assume; by default the real one.
    prior
        The distribution from which the secrets are drawn, which the strategies know; uniform if
        None. Not together with games of every code.
    progress
        Called after each game with the number of games played so far, by all strategies
        together, and the total number of games.

    Raises
    ------
    InvalidArgumentError
        If there are no games, no strategies, or two strategies of the same name.
        If the assumed channel excludes a reply that the real one may report.
        If the prior belongs to another board.
    TooLargeError
        If all strategies together would play more than `MAX_ROWS` games.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import Knuth
    >>> comparison = compare([Knuth()], Channel.exact(Board(2, 3)), games=None)
    >>> [row.guesses for row in comparison.rows]
    [1, 2, 3, 3, 2, 3, 3, 4, 3]
    """
    contest = Contest(
        tuple(strategies),
        channel,
        games=games,
        seed=seed,
        max_guesses=max_guesses,
        assumed=assumed,
        prior=prior,
    )
    return contest.run(progress)


@dataclass(frozen=True, eq=False)
class Contest(Value):
    """A comparison whose games are played one by one, so that an interrupted one can be kept.

    It also has options that `compare` lacks.

    Raises
    ------
    InvalidArgumentError, TooLargeError
        See `compare`.

    Examples
    --------
    >>> from itertools import islice
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import Knuth
    >>> contest = Contest((Knuth(),), Channel.exact(Board(2, 3)), games=1000)
    >>> contest.comparison(list(islice(contest.play(), 10))).games
    10
    """

    strategies: tuple[Strategy, ...]
    """The strategies, with different names."""
    channel: Channel
    """The channel that reports the replies."""
    _: KW_ONLY
    games: int | None = 1000
    """The number of games of each strategy; None to play every code of the board once."""
    seed: int = 0
    """The seed from which the seeds of the games are drawn."""
    max_guesses: Guesses = 100
    """The limit of guesses in a game."""
    assumed: Channel | None = None
    """The channel that the strategies assume; by default the real one."""
    ending: Ending | None = None
    """The rule that ends a game, with its own limit; ``Revealed(max_guesses)`` by default."""
    prior: Prior | None = None
    """The distribution from which the secrets are drawn; uniform if None."""
    assumed_prior: Prior | None = None
    """The prior that the strategies assume; by default the real one."""
    match: int = 1
    """The number of games in a match. Within a match the assumed prior learns from the codes of
    the earlier games, if it can (`ClosedFormPrior.observe`); the next match begins afresh."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(max_guesses=self.rule.limit)
        if (needed := self.n_rows) > MAX_ROWS:
            told = f"a comparison holds at most {MAX_ROWS:,} games, and this one would have"
            told = f"{told} {many(needed)}; play fewer games"
            raise TooLargeError(told, needed=needed, budget=MAX_ROWS)

    def _faults(self) -> list[str]:
        # The setting raises if the players do not fit the board, the noise or the prior.
        faults = series_faults((self.setting,), games=self.games, seed=self.seed, match=self.match)
        return [str(fault) for fault in faults]

    @cached_property
    def setting(self) -> GameSetting:
        """The channel, the prior, the ending and the players."""
        return GameSetting(
            channel=self.channel,
            players=tuple(
                Player(strategy, self.assumed, self.assumed_prior) for strategy in self.strategies
            ),
            prior=self.prior,
            ending=self.rule,
        )

    @property
    def believed(self) -> Channel:
        """The channel that the strategies assume."""
        return self.setting.believed[0]

    @cached_property
    def rule(self) -> Ending:
        """The rule that ends a game."""
        return Revealed(self.max_guesses) if self.ending is None else self.ending

    @property
    def reporting(self) -> Channel:
        """The channel that reports the replies, ending the game at the winning guess if it does."""
        return self.setting.reporting

    @property
    def n_games(self) -> int:
        """The number of games of each strategy."""
        return self.channel.board.n_codes if self.games is None else self.games

    @property
    def n_rows(self) -> int:
        """The total number of games of all strategies."""
        return self.n_games * len(self.strategies)

    @checked
    def run(self, progress: Callable[[int, int], None] | None = None) -> Comparison:
        """Play all games; `progress` as in `compare`."""
        rows: list[GameRow] = []
        for row in self.play():
            rows.append(row)
            if progress is not None:
                progress(len(rows), self.n_rows)
        return self.comparison(rows)

    @property
    def learns(self) -> bool:
        """Whether the assumed prior learns from the earlier codes of a match."""
        return learns(self.setting, self.match)

    @property
    def notes(self) -> tuple[str, ...]:
        """What `best` stands for, and what changes nothing: a strategy, a prior, a match."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        from bnmind.mastermind import UniformPrior
        from bnmind.strategies import Best, MapCode, RandomCode, ignores_prior, trust_suffices
        from bnmind.strategies.belief_search import best_player

        assumed = self.prior if self.assumed_prior is None else self.assumed_prior
        uniform = assumed is None or isinstance(assumed, UniformPrior)
        for one in self.strategies:
            if isinstance(one, Best):
                player = best_player(self.believed, uniform=uniform)
                yield f"{one.name} plays as {player.name} here."
        if self.match > 1 and not self.learns:
            name = format_prior(assumed)
            yield (
                f"Matches of {self.match} games change nothing: the assumed prior {name} does not"
                " learn."
            )
        unbiased = self.prior is None and self.assumed_prior is None
        alike = [one.name for one in self.strategies if isinstance(one, MapCode | RandomCode)]
        if len(alike) > 1 and unbiased and trust_suffices(self.believed):
            yield (
                f"{' and '.join(alike)} play the same games here: under {self.believed.name} the"
                " most probable codes are those that contradict the fewest replies."
            )
        ignorant = [one.name for one in self.strategies if ignores_prior(one)]
        if ignorant and not unbiased:
            does = "do" if len(ignorant) > 1 else "does"
            yield f"{in_words(ignorant)} {does} not use the prior."

    def play(self) -> Iterator[GameRow]:
        """Play the first game of each strategy, then the second of each strategy, and so on."""
        series = GameSeries(
            setting=self.setting,
            numbers=range(1, self.n_games + 1),
            seed=self.seed,
            every_code=self.games is None,
            match=self.match,
        )
        for row, _ in series.play():
            yield row

    @checked
    def comparison(self, rows: Sequence[GameRow]) -> Comparison:
        """Return the comparison of the games played, in the order of `play`.

        Games that only some strategies have played are omitted.

        Parameters
        ----------
        rows
            The games of `play`, in their order.

        Raises
        ------
        InvalidArgumentError
            If no game was played by all strategies.
        """
        games = len(rows) // len(self.strategies)
        if games == 0:
            raise InvalidArgumentError("no game was played by all strategies", rows)
        return Comparison(
            board=str(self.channel.board),
            channel=self.channel.name,
            assumed=self.believed.name,
            strategies=tuple(strategy.name for strategy in self.strategies),
            games=games,
            seed=self.seed,
            max_guesses=self.max_guesses,
            ending=format_ending(self.rule),
            prior=format_prior(self.prior),
            assumed_prior=format_prior(self.setting.believed_priors[0]),
            match=self.match,
            exhaustive=self.games is None
            and games == self.n_games
            and are_all_games(self.setting, self.match),
            first_codes=self.games is None and games < self.n_games,
            rows=tuple(rows[: games * len(self.strategies)]),
        )


# --- Comparisons that end when enough games have been played to tell the strategies apart ---------


@checked
def compare_until(
    contest: Contest,
    rule: Enough,
    *,
    confidence: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Play the games of a contest until a rule says that they suffice, or all have been played.

    The rule looks at the numbers of guesses after each game, or after each match. The intervals are
    those of a `ConfidenceSequence`, so looking does not make them wrong more often than they say.

    Parameters
    ----------
    contest
        The contest; its number of games is the limit.
    rule
        `NarrowEnough` to know each difference to within a margin, or `AllTold` to know for each
        pair which strategy is better.
    confidence
        The probability that all intervals cover their means, at all times.
    progress
        Called after each game with the number of games so far, by all strategies, and the limit.

    Raises
    ------
    InvalidArgumentError
        If there is only one strategy, or every code is to be played once: codes in order are no
        random sample until all of them have been played.
        If the confidence is out of range.

    Examples
    --------
    >>> from bnmind.lab import AllTold
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import Knuth, RandomCode
    >>> contest = Contest((Knuth(), RandomCode()), Channel.exact(Board(4, 6)), games=10_000)
    >>> comparison = compare_until(contest, AllTold())
    >>> comparison.games < 1000, comparison.differences().interval
    (True, 'confidence sequence')
    """
    rows: list[GameRow] = []
    for row in play_until(contest, rule, confidence=confidence):
        rows.append(row)
        if progress is not None:
            progress(len(rows), contest.n_rows)
    return sequential_comparison(contest, rows)


@checked
def play_until(
    contest: Contest,
    rule: Enough,
    *,
    confidence: float = 0.95,
    play: Callable[[], Iterator[GameRow]] | None = None,
) -> Iterator[GameRow]:
    """Play the games of a contest one by one, as `compare_until`; for games that are interrupted.

    Parameters
    ----------
    contest, rule, confidence
        As for `compare_until`.
    play
        A function that plays the games as `Contest.play` does, which is the default.

    Raises
    ------
    InvalidArgumentError
        See `compare_until`.
    """
    n = len(contest.strategies)
    if n < 2:
        raise InvalidArgumentError(
            "expected at least two strategies, since the rule looks at their differences",
            contest.strategies,
        )
    if contest.games is None:
        raise InvalidArgumentError(
            "expected a number of games, since codes in order are no random sample until all have"
            " been played",
            contest.games,
        )
    running = RunningDifferences(strategies=n, confidence=confidence)
    return _played(contest, rule, running, contest.play if play is None else play)


def _played(
    contest: Contest,
    rule: Enough,
    running: RunningDifferences,
    play: Callable[[], Iterator[GameRow]],
) -> Iterator[GameRow]:
    guesses: list[int] = []
    n, match = running.strategies, contest.match
    for row in play():
        yield row
        guesses.append(row.guesses)
        if len(guesses) == n * match:
            running = running.plus(np.array(guesses).reshape(match, n).mean(axis=0)[None])
            guesses = []
            if running.suffice(rule):
                return


@checked
def sequential_comparison(contest: Contest, rows: list[GameRow]) -> Comparison:
    """Return the comparison of the games that `play_until` has played.

    Parameters
    ----------
    contest
        The contest that was played.
    rows
        Its games, in the order in which they were played.

    Raises
    ------
    InvalidArgumentError
        If no game was played by all strategies.
    """
    comparison = contest.comparison(rows)
    return replace(comparison, sequential=not comparison.exhaustive)


# --- Files with comparisons of strategies ---------------------------------------------------------


@checked
def comparison_csv(comparison: Comparison) -> str:
    """Return the rows of a comparison as CSV, with a header.

    Parameters
    ----------
    comparison
        The games of a comparison.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in fields(GameRow)])
    writer.writerows(astuple(row) for row in comparison.rows)
    return text.getvalue()


@checked
def save_comparison(
    comparison: Comparison, directory: Path, *, vector: bool = False
) -> tuple[Path, ...]:
    """Write the games and their plots into a directory; create it if it is missing.

    The files are ``games.csv``, ``game-lengths.png`` and, of several strategies,
    ``differences.png``.

    Parameters
    ----------
    comparison
        The comparison.
    directory
        The directory.
    vector
        Whether to write the plots as SVG files, too.

    Returns
    -------
    tuple[Path, ...]
        The files written.

    Raises
    ------
    ModelFileError
        If the files cannot be written. The directory is then unchanged.
    """
    plots = {"game-lengths": plot_lengths(comparison)}
    if len(comparison.strategies) > 1:
        title = comparison_title(comparison)
        plots["differences"] = plot_differences(comparison.differences(), title=title)
    files = {"games.csv": comparison_csv(comparison).encode()}
    files |= {f"{name}.png": png(figure) for name, figure in plots.items()}
    if vector:
        files |= {f"{name}.svg": svg(figure) for name, figure in plots.items()}
    return write_files(directory, files)
