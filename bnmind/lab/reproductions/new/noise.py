"""New experiments on noise: every strategy, wrong assumptions, and information or look-ahead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bnmind.lab.reproductions.base.figures import Estimate, Figure, counted, new
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import CLASSIC
from bnmind.lab.reproductions.mastermind.games import difference, played
from bnmind.lab.reproductions.new.curves import Panel, draw_panels
from bnmind.mastermind import Channel
from bnmind.strategies import mean_lower_bound, strategy_by_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = ["ASSUMED_NOISE", "INFORMATION", "MODELING", "SEARCHING", "TRUSTING"]

_KINDS: Mapping[str, Callable[..., Channel]] = {
    "false": Channel.false_reply,
    "independent": Channel.independent_error,
}

_MODELING = (
    *("entropy", "map", "lookahead", "lookahead2", "best", "entropy-sampled", "map-sampled"),
    *("entropy-unknown-noise", "map-unknown-noise"),
)
_TRUSTING = (
    *("knuth", "irving", "larmouth", "kooi", "weighted-entropy", "optimal", "optimal-worst"),
    *("deeper", "shapiro", "random"),
)
_SEARCHING = (
    *("snyder-learned", "metropolis-hastings", "subset:20:entropy", "local-entropy", "eda"),
    *("eda-entropy", "genetic", "genetic-elitist", "bernier-genetic", "annealing"),
    "annealing-tuned",
)
_BOUND = "lower bound"
_DEAR = {
    "lookahead2": 0.2,
    "best": 0.2,
    "lookahead": 0.5,
    "entropy-sampled": 0.1,
    "map-sampled": 0.1,
    "annealing-tuned": 0.1,
    "genetic": 0.25,
    "bernier-genetic": 0.25,
    "genetic-elitist": 0.25,
    "map-unknown-noise": 0.5,
    "entropy-unknown-noise": 0.5,
}
"""The share of the games that strategies play whose guesses take long."""


def _level(name: str, p: float, games: int, seed: int) -> Sequence[Figure]:
    strategy = strategy_by_name(name)
    channel = Channel.false_reply(CLASSIC, p) if p else Channel.exact(CLASSIC)
    found = played([strategy], channel, games, seed, limit=100)[strategy.name]
    return (counted(f"{name}, p = {p:g}", found.mean, curve=name, at=p),)


def _bound(p: float, partitions: int) -> Sequence[Figure]:
    channel = Channel.false_reply(CLASSIC, p)
    mean = mean_lower_bound(channel, partitions=partitions).mean
    return (new(f"lower bound, p = {p:g}", mean, curve=_BOUND, at=p),)


def _levels(names: Sequence[str], setting: Setting) -> Sequence[Part]:
    games = setting.of(100, 5000, medium=2000)
    levels = setting.of((0.0, 0.1, 0.2, 0.3), (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4))
    return tuple(
        Part(
            f"{name} {p:g}",
            partial(_level, name, p, round(games * _DEAR.get(name, 1)), setting.seed),
        )
        for name in names
        for p in levels
    )


def _with_bounds(setting: Setting) -> Sequence[Part]:
    levels = setting.of((0.1, 0.2, 0.3), (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4))
    bounds = (Part(f"bound {p:g}", partial(_bound, p, setting.of(3, 4))) for p in levels)
    return (*_levels(_MODELING, setting), *bounds)


def _draw_levels(names: tuple[str, ...], figures: Sequence[Figure]) -> Drawing:
    return draw_panels(
        figures,
        (Panel(curves=names),),
        x="probability of a false reply",
        y="guesses a game (4x6)",
    )


_UNKNOWN = "entropy-unknown-noise"
_ASSUMED = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


def _curve(kind: str, real: float) -> str:
    return f"{kind}:{real:g} is real"


def _assumption(kind: str, real: float, games: int, seed: int) -> Sequence[Figure]:
    """Return the means under assumed levels, and what they lose against the real level."""
    channel, entropy = _KINDS[kind](CLASSIC, real), strategy_by_name("entropy")
    right = played([entropy], channel, games, seed, limit=100)["entropy"]
    curve = _curve(kind, real)
    figures = []
    for p in _ASSUMED:
        assumed = _KINDS[kind](CLASSIC, p)
        found = played([entropy], channel, games, seed, limit=100, assumed=assumed)["entropy"]
        lost = Estimate(0.0, 0.0, games) if p == real else difference(found, right)
        name = f"{curve}, {p:g} assumed, guesses lost"
        figures.append(counted(name, lost, curve=curve, at=p))
    figures.append(counted(f"{curve} and assumed, guesses", right.mean))
    return figures


def _learning(kind: str, real: float, games: int, seed: int) -> Sequence[Figure]:
    """Return what is lost by a player that learns the level while playing."""
    channel, names = _KINDS[kind](CLASSIC, real), ("entropy", _UNKNOWN)
    found = played([strategy_by_name(name) for name in names], channel, games, seed, limit=100)
    lost = difference(found[_UNKNOWN], found["entropy"])
    name = f"{_curve(kind, real)}, level learned while playing, guesses lost"
    return (counted(name, lost, curve=f"{_curve(kind, real)}, learned"),)


def _assumptions(setting: Setting) -> Sequence[Part]:
    games, fewer = setting.of((200, 40), (20_000, 5000), medium=(3000, 1000))
    return tuple(
        Part(f"{kind} {real:g} {label}", partial(function, kind, real, number, setting.seed))
        for kind in _KINDS
        for real in (0.1, 0.2, 0.3)
        for label, function, number in (
            ("assumed", _assumption, games),
            ("learned", _learning, fewer),
        )
    )


def _draw_assumptions(figures: Sequence[Figure]) -> Drawing:
    learned = {figure.curve: figure for figure in figures if figure.curve.endswith("learned")}
    panels = [
        Panel(
            title="false replies" if kind == "false" else "independent errors",
            curves=tuple(_curve(kind, real) for real in (0.1, 0.2, 0.3)),
            names=tuple(f"{real:g} is real" for real in (0.1, 0.2, 0.3)),
            styles=("entropy", "map", "knuth"),
            levels=tuple(
                learned[f"{_curve(kind, real)}, learned"]
                for real in (0.1, 0.2, 0.3)
                if f"{_curve(kind, real)}, learned" in learned
            ),
        )
        for kind in _KINDS
    ]
    return draw_panels(
        figures,
        panels,
        x="assumed probability of an error; right: learned while playing",
        y="guesses lost against the right assumption (4x6)",
    )


_LOOKING = ("kooi", "optimal", "lookahead", "lookahead2")


def _looking(name: str, p: float, games: int, seed: int) -> Sequence[Figure]:
    channel = Channel.false_reply(CLASSIC, p) if p else Channel.exact(CLASSIC)
    strategies = [strategy_by_name("entropy"), strategy_by_name(name)]
    found = played(strategies, channel, games, seed, limit=100)
    saved = difference(found["entropy"], found[name])
    return (counted(f"{name}, p = {p:g}, guesses saved", saved, curve=name, at=p),)


def _looks(setting: Setting) -> Sequence[Part]:
    many, some, few = setting.of((250, 100, 40), (20_000, 20_000, 10_000), medium=(3000, 1500, 500))
    levels = setting.of((0.0, 0.1, 0.2, 0.3), (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4))
    games = {"kooi": many, "optimal": many, "lookahead": some, "lookahead2": few}
    return tuple(
        Part(f"{name} {p:g}", partial(_looking, name, p, games[name], setting.seed))
        for name in _LOOKING
        for p in levels
    )


def _draw_looks(figures: Sequence[Figure]) -> Drawing:
    return draw_panels(
        figures,
        (Panel(curves=_LOOKING),),
        x="probability of a false reply",
        y="guesses saved against entropy (4x6)",
    )


_TOO_FEW = (
    "A quick run has too few games to rank strategies; [play under noise](play-under-noise.md)"
    " compares some of them in 20,000 games each."
)
_TEXT = (
    "The board is 4x6, and replies are false. All strategies of the three reproductions of this"
    " kind play the same secrets with the same luck. Bars are two standard errors to each side."
    " Strategies with slow guesses play fewer games."
)

MODELING = Reproduction(
    title="guesses against the noise level: strategies that model the noise",
    source="a new experiment",
    quick_minutes=0.8,
    minutes=90,
    parts=_with_bounds,
    quick_text=_TOO_FEW,
    draw=partial(_draw_levels, (*_MODELING, _BOUND)),
    abscissa="p",
    text=f"{_TEXT} No strategy takes fewer guesses than the lower bound, which is proven.",
)

TRUSTING = Reproduction(
    title="guesses against the noise level: strategies that trust every reply",
    source="a new experiment",
    quick_minutes=0.4,
    minutes=30,
    parts=partial(_levels, _TRUSTING),
    quick_text=_TOO_FEW,
    draw=partial(_draw_levels, _TRUSTING),
    abscissa="p",
    text=_TEXT,
)

SEARCHING = Reproduction(
    title="guesses against the noise level: strategies that search or draw",
    source="a new experiment",
    quick_minutes=1.4,
    minutes=90,
    parts=partial(_levels, _SEARCHING),
    quick_text=_TOO_FEW,
    draw=partial(_draw_levels, _SEARCHING),
    abscissa="p",
    text=_TEXT,
)

ASSUMED_NOISE = Reproduction(
    title="how wrong the assumed noise may be, and a level learned while playing",
    source="a new experiment",
    quick_minutes=0.7,
    minutes=90,
    parts=_assumptions,
    quick_text=_TOO_FEW,
    draw=_draw_assumptions,
    abscissa="assumed",
    text="On 4x6, entropy plays with a wrong level of the noise against entropy with the right "
    "level, game by game. The points to the right of the curves are those of "
    "entropy-unknown-noise, which learns the level during each game. Bands and bars are two "
    "standard errors to each side.",
)

INFORMATION = Reproduction(
    title="information against look-ahead under false replies",
    source="a new experiment",
    quick_minutes=0.8,
    minutes=120,
    parts=_looks,
    quick_text="A quick run has too few games to rank strategies.",
    draw=_draw_looks,
    abscissa="p",
    text="The figures are guesses saved against entropy, game by game, on 4x6. The strategy "
    "entropy looks one guess ahead and counts information; lookahead and lookahead2 count the "
    "guesses that the game still takes; kooi and optimal believe every reply. Bars are two "
    "standard errors to each side. [Play under noise](play-under-noise.md) "
    "compares them in 20,000 games each.",
)
