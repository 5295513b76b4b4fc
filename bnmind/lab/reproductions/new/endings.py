"""A new experiment: to determine a code, to guess it, and to declare it under noise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from bnmind.lab.mastermind import Contest, Declared
from bnmind.lab.reproductions.base.figures import Estimate, Figure, counted, new
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import CLASSIC
from bnmind.lab.reproductions.mastermind.games import played
from bnmind.lab.reproductions.new.curves import Panel, draw_panels
from bnmind.mastermind import Channel
from bnmind.strategies import Goal, build_tree, optimal_on_average, strategy_by_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = ["DECLARING"]

_HEURISTICS = ("knuth", "irving", "neuwirth", "larmouth", "kooi")
_PLAYERS = ("entropy", "map", "lookahead")
_CERTAINTIES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
_LEVELS = (0.1, 0.2)


def _determining() -> Sequence[Figure]:
    """Return the totals without noise until the code is known, and until it is guessed."""
    figures = []
    for goal, text in ((Goal.DETERMINING, "known"), (Goal.REVEALING, "guessed")):
        total = optimal_on_average(CLASSIC, goal).total
        figures.append(new(f"best for this goal, total until the code is {text}", total))
    for name in _HEURISTICS:
        lengths = build_tree(strategy_by_name(name), Channel.exact(CLASSIC)).lengths
        for value, text in ((lengths.determining, "known"), (lengths.revealing, "guessed")):
            total = round(value * CLASSIC.n_codes)
            figures.append(new(f"{name}, total until the code is {text}", total))
    return figures


def _declaring(name: str, p: float, certainty: float, games: int, seed: int) -> Sequence[Figure]:
    channel, strategy = Channel.false_reply(CLASSIC, p), strategy_by_name(name)
    ending = Declared(certainty, 100)
    rows = Contest((strategy,), channel, games=games, seed=seed, ending=ending).run().rows
    guesses = Estimate.of([row.guesses for row in rows])
    right = Estimate.share(sum(row.won for row in rows), len(rows))
    label = f"{name}, p = {p:g}, declares at {certainty:g}"
    curve = _curve(name, p)
    return (
        counted(f"{label}, guesses", guesses),
        counted(f"{label}, share right", right, curve=curve, at=guesses.mean),
    )


def _revealed(name: str, p: float, games: int, seed: int) -> Sequence[Figure]:
    strategy = strategy_by_name(name)
    found = played([strategy], Channel.false_reply(CLASSIC, p), games, seed, limit=100)[name]
    return (counted(f"{name}, p = {p:g}, code revealed, guesses", found.mean),)


def _curve(name: str, p: float) -> str:
    return f"{name}, p = {p:g}"


def _parts(setting: Setting) -> Sequence[Part]:
    games = {name: setting.of(200, 20_000, medium=3000) for name in _PLAYERS}
    games["lookahead"] = setting.of(60, 10_000, medium=1000)
    parts = [Part("determining", _determining)]
    for name in _PLAYERS:
        for p in _LEVELS:
            run = partial(_revealed, name, p, games[name], setting.seed)
            parts.append(Part(f"{name} {p:g} revealed", run))
            for certainty in _CERTAINTIES:
                run = partial(_declaring, name, p, certainty, games[name], setting.seed)
                parts.append(Part(f"{name} {p:g} {certainty:g}", run))
    return parts


def _draw(figures: Sequence[Figure]) -> Drawing:
    return draw_panels(
        figures,
        [
            Panel(
                title=f"{p:.0%} false replies",
                curves=tuple(_curve(name, p) for name in _PLAYERS),
                names=_PLAYERS,
                is_share=True,
            )
            for p in _LEVELS
        ],
        x="guesses before the code is declared (4x6)",
        y="share of codes declared right",
    )


DECLARING = Reproduction(
    title="to determine a code, to guess it, or to declare it under noise",
    source="a new experiment",
    quick_minutes=0.4,
    minutes=40,
    parts=_parts,
    quick_text="A quick run has too few games to rank strategies.",
    draw=_draw,
    text="Without noise, to know a code and to guess it differ by less than a guess, and the best "
    "strategies for the two goals differ. Under noise, a player that must declare the code stops "
    "once its most probable code has a given probability: each point of a curve is one such "
    "probability, from .5 to .99. Bands are Wilson's 95 % intervals.",
)
