"""Sampled beliefs: time for a guess on large boards, and against the exact belief at 6x9.

Run ``python -m benchmarks.sampled_beliefs speed``, ``exact`` or ``alarms``; see README.md.
Times are CPU seconds of one process, so those of one run can be compared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from bnmind.information import information
from bnmind.lab import CodeMaker
from bnmind.mastermind import (
    Board,
    Channel,
    SampledBelief,
    SamplerOptions,
    TableBelief,
    Turn,
    parse_noise,
    reply,
)
from bnmind.strategies import Entropy, SampledEntropy

_Answer = TypeVar("_Answer")
_Given = ParamSpec("_Given")
RNG = np.random.default_rng(0)
SIZES = (32, 128, 512)


def timed(
    work: Callable[_Given, _Answer], *given: _Given.args, **options: _Given.kwargs
) -> tuple[_Answer, float]:
    """Return an answer and the CPU seconds that it took."""
    started = time.process_time()
    answer = work(*given, **options)
    return answer, time.process_time() - started


def speed(games: int = 3) -> None:
    """Print the seconds of an update and of a choice, and the codes that a choice examines."""
    print("board   noise      guesses  update s  choice s  codes a guess")
    strategy = SampledEntropy()
    for pegs, colors in ((4, 6), (6, 9), (8, 12), (10, 12)):
        for noise in ("exact", "false:0.2"):
            board = Board(pegs, colors)
            channel = parse_noise(board, noise)
            updates, choices, codes = [0.0], [0.0], [0]
            for game in range(games + 1):  # the first game compiles
                maker = CodeMaker.from_seed(channel, game)
                belief = strategy.start(channel.revealed())
                while True:
                    (guess, info), seconds = timed(strategy.choose, belief, RNG)
                    report = maker.answer(len(belief.history), board.code(guess))[1]
                    if game:
                        choices.append(seconds)
                        codes.append(info.evaluated or 0)
                    if board.code(guess) == maker.secret or report is None:
                        break
                    belief, seconds = timed(belief.update, board.code(guess), report)
                    if game:
                        updates.append(seconds)
            turns = len(choices) - 1
            print(
                f"{board!s:7} {noise:10} {turns / games:7.1f} {sum(updates) / turns:9.3f} "
                f"{sum(choices) / turns:9.3f} {sum(codes) / turns:14.0f}",
                flush=True,
            )


def exact(histories: int = 6) -> None:
    """Print how much information a choice from samples loses at 6x9, and how long it takes."""
    board = Board(6, 9)
    channel = Channel.false_reply(board, 0.2).revealed()
    strategies = {size: SampledEntropy(options=SamplerOptions(size=size)) for size in SIZES}
    lost: dict[int, list[float]] = {size: [] for size in SIZES}
    seconds: dict[int, list[float]] = {0: [], **{size: [] for size in SIZES}}
    for seed in range(histories + 1):  # the first history compiles
        turns = _turns(channel, 2 + seed % 4, np.random.default_rng(seed))
        table, slow = timed(_after, TableBelief.start(channel), turns)
        (_, best), choice = timed(Entropy().choose, table, RNG)
        if seed:
            seconds[0].append(slow / len(turns) + choice)
        for size, strategy in strategies.items():
            belief, update = timed(_after, strategy.start(channel), turns)
            (guess, _), choice = timed(strategy.choose, belief, RNG)
            told = information(table.masses(np.array([guess]))[0], channel.matrix)
            if seed:
                lost[size].append(best.information - float(told))
                seconds[size].append(update / len(turns) + choice)
    exact_seconds = float(np.mean(seconds[0]))
    print("6x9, false:0.2: update and choice")
    print(f"exact belief, all guesses: {exact_seconds:.3f} s")
    for size in SIZES:
        mean = float(np.mean(seconds[size]))
        print(
            f"16 x {size:3} codes: {mean:.3f} s, {exact_seconds / mean:.1f} times as fast; "
            f"the guess tells {np.mean(lost[size]):.3f} bits less on average, "
            f"{max(lost[size]):.3f} at most"
        )


def alarms(histories: int = 200) -> None:
    """Print how often estimates are wrong by more than 2 and 3 of their standard errors."""
    print("expected of 15 degrees of freedom: 6.4 % beyond 2, 0.9 % beyond 3")
    for pegs, colors, noise in (
        *((4, 6, "false:0.2"), (5, 8, "false:0.2")),
        *((6, 9, "false:0.2"), (6, 9, "independent:0.1"), (6, 9, "exact")),
    ):
        channel = parse_noise(Board(pegs, colors), noise).revealed()
        values: list[float] = []
        for seed in range(histories):
            rng = np.random.default_rng(seed)
            turns = _turns(channel, 1 + seed % 6, rng)
            truth = _after(TableBelief.start(channel), turns)
            belief = _after(SampledBelief.start(channel, rng=rng), turns)
            errors = belief.standard_errors
            guess = rng.integers(channel.board.n_codes, size=1)
            masses = truth.masses(guess)[0]
            place = int(rng.choice(len(masses), p=masses / masses.sum()))
            pairs = [
                (belief.entropy() - truth.entropy(), errors.entropy()),
                (belief.masses(guess)[0, place] - masses[place], errors.masses(guess)[0, place]),
            ]
            values += [difference / error for difference, error in pairs if error]
        beyond = [float((abs(np.array(values)) > limit).mean()) for limit in (2, 3)]
        print(
            f"{channel.board} {noise}: {len(values)} estimates, {100 * beyond[0]:.1f} % beyond 2, "
            f"{100 * beyond[1]:.1f} % beyond 3",
            flush=True,
        )


def _turns(channel: Channel, n: int, rng: np.random.Generator) -> list[Turn]:
    """Return random guesses and their reports for a random code that is not guessed."""
    board = channel.board
    secret = board.code(int(rng.integers(board.n_codes)))
    turns: list[Turn] = []
    while len(turns) < n:
        guess = board.code(int(rng.integers(board.n_codes)))
        if guess != secret:
            true = board.true_replies.index(reply(guess, secret))
            turns.append(Turn(guess, channel.reports[channel.draw(true, rng.random())]))
    return turns


_Kind = TypeVar("_Kind", TableBelief, SampledBelief)


def _after(belief: _Kind, turns: list[Turn]) -> _Kind:
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    return belief


if __name__ == "__main__":
    {"speed": speed, "exact": exact, "alarms": alarms}[sys.argv[1]](*map(int, sys.argv[2:]))
