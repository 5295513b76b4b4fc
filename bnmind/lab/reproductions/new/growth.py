"""A new experiment: guesses and cost as pegs and colors grow."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from bnmind.lab.mastermind import CodeMaker, play_game
from bnmind.lab.reproductions.base.figures import Estimate, Figure, counted
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import board_of
from bnmind.lab.reproductions.mastermind.games import played
from bnmind.lab.reproductions.new.curves import Panel, draw_panels
from bnmind.mastermind import Channel
from bnmind.strategies import strategy_by_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = ["GROWTH"]

_LISTING = ("kooi", "entropy")
_PLAYERS = (
    *_LISTING,
    *("entropy-sampled", "metropolis-hastings", "genetic", "annealing", "annealing-tuned"),
)
_GUESSES, _COST = "guesses", "ms a guess"
_MOST_LISTED = 40_000
_TIMED = 4
"""The number of games whose time is measured."""
_SLOW = ("annealing-tuned", "entropy-sampled", "genetic")


def _size(name: str, size: str, games: int, seed: int) -> Sequence[Figure]:
    board, strategy = board_of(size), strategy_by_name(name)
    channel = Channel.exact(board)
    mean = played([strategy], channel, games, seed, limit=100)[strategy.name].mean
    # Comparisons cache the choices of deterministic strategies; these games do not.
    started, guesses = time.process_time(), 0
    for game in range(_TIMED):
        guesses += play_game(strategy, CodeMaker.from_seed(channel.revealed(), game)).guesses
    cost = Estimate(1000 * (time.process_time() - started) / guesses, 0.0, _TIMED)
    return (
        counted(f"{name}, {size}, guesses", mean, curve=f"{name} {_GUESSES}", at=board.n_codes),
        counted(f"{name}, {size}, ms a guess", cost, curve=f"{name} {_COST}", at=board.n_codes),
    )


def _parts(setting: Setting) -> Sequence[Part]:
    sizes = setting.of(
        ("3x5", "4x6", "5x8", "6x9", "8x12"),
        ("3x5", "4x6", "4x8", "5x8", "6x8", "6x9", "7x10", "8x10", "8x12", "9x12", "10x12"),
    )
    return tuple(
        Part(
            f"{name} {size}",
            partial(_size, name, size, _games(name, setting), setting.seed),
        )
        for name in _PLAYERS
        for size in sizes
        if name not in _LISTING or board_of(size).n_codes <= _MOST_LISTED
    )


def _games(name: str, setting: Setting) -> int:
    slow, fast = setting.of((8, 60), (300, 2000), medium=(60, 1000))
    return int(slow if name in _SLOW else fast)


def _draw(figures: Sequence[Figure]) -> Drawing:
    panels = [
        Panel(
            curves=tuple(f"{name} {what}" for name in _PLAYERS),
            names=_PLAYERS,
            y=label,
            log_y=what == _COST,
        )
        for label, what in (("guesses a game", _GUESSES), ("processor time, ms a guess", _COST))
    ]
    return draw_panels(figures, panels, x="codes of the board", log_x=True)


GROWTH = Reproduction(
    title="guesses and cost as pegs and colors grow",
    source="a new experiment",
    quick_minutes=0.6,
    minutes=60,
    parts=_parts,
    quick_text="A quick run has too few games to rank strategies.",
    draw=_draw,
    abscissa="codes",
    text="All replies are true. Times are processor times of one core, and depend on the machine. "
    "kooi and entropy list all codes. Bars are two standard errors to each side.",
)
