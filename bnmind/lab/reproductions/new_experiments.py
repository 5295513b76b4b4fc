"""New experiments, of which nobody has published figures, and their plots."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bnmind.adaptive import (
    DiscriminationIndex,
    KullbackLeibler,
    MaximalItems,
    MinimalEntropy,
    RandomItem,
    Responses,
    Selector,
    read_qmatrix,
    replay,
)
from bnmind.adaptive.simulation_results import share_interval
from bnmind.information import Floats
from bnmind.lab.mastermind import CodeMaker, Contest, Declared, play_game
from bnmind.lab.plots import Curve, band, line, style_of
from bnmind.lab.reproductions.figures import Estimate, Figure, new
from bnmind.lab.reproductions.learned import learned_bank
from bnmind.lab.reproductions.mastermind import CLASSIC, board_of, difference, played
from bnmind.lab.reproductions.reproduction import Draw, Program, Setting, Task
from bnmind.mastermind import Channel
from bnmind.strategies import (
    Goal,
    build_tree,
    mean_lower_bound,
    optimal_on_average,
    strategy_by_name,
)
from bnmind.views.draw import new_figure, plain, polish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


# --- Plots of curves, with bands or bars of two standard errors -----------------------------------

_ERRORS = 2
_MOST_BANDS = 3
"""More bands than this hide each other: each point then has an error bar."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A part of a plot with axes of its own."""

    title: str = ""
    """The title; empty for none."""
    curves: tuple[str, ...]
    """The curves, in the order of the legend."""
    names: tuple[str, ...] = ()
    """The name of each curve in the legend; by default the curve."""
    styles: tuple[str, ...] = ()
    """The strategy in whose style each curve is drawn; by default its name."""
    levels: tuple[Figure, ...] = ()
    """Figures without an abscissa, one for each of the first curves, drawn to their right."""
    y: str = ""
    """The label of the ordinate; empty if the panels share one."""
    log_y: bool = False
    """Whether the ordinate is logarithmic."""
    is_share: bool = False
    """Whether the ordinates are shares of games; the bands are then Wilson's 95 % intervals."""


def draw_panels(
    figures: Sequence[Figure],
    panels: Sequence[Panel],
    *,
    x: str,
    y: str = "",
    log_x: bool = False,
) -> Drawing:
    """Return a plot of the curves of figures: panels from left to right, with common labels.

    Figures with an abscissa are points. The ordinate is common to all panels if it has a label.
    """
    drawing = new_figure(1.4 + 4.6 * len(panels), 4.6)
    axes = drawing.subplots(1, len(panels), sharey=bool(y), squeeze=False)[0]
    for panel, ax in zip(panels, axes, strict=True):
        if log_x:
            ax.set_xscale("log")
        if panel.log_y:
            ax.set_yscale("log")
        _draw(ax, panel, figures)
        ax.set_title(panel.title, loc="left")
        ax.set_xlabel(x)
        ax.set_ylabel(panel.y)
        polish(ax)
    if y:
        axes[0].set_ylabel(y)
    return drawing


def _draw(ax: Axes, panel: Panel, figures: Sequence[Figure]) -> None:
    for number, curve in enumerate(panel.curves):
        label = panel.names[number] if panel.names else curve
        name = panel.styles[number] if panel.styles else label
        points = sorted(
            (figure.at, figure.ours, figure.standard_error or 0.0, figure.games or np.inf)
            for figure in figures
            if figure.curve == curve and figure.at is not None and figure.ours is not None
        )
        if not points:
            continue
        at, mean, error, games = np.array(points, dtype=np.float64).T
        low, high = mean - _ERRORS * error, mean + _ERRORS * error
        if panel.is_share:
            low, high = share_interval(mean, games)
        if len(panel.curves) > _MOST_BANDS:
            at = _shifted(ax, at, number, len(panel.curves))
            sides = (mean - low, high - mean)
            ax.errorbar(at, mean, sides, fmt="none", ecolor=style_of(name).color, elinewidth=0.9)
        elif (high > low).any():
            band(ax, Curve(name=name, x=at, y=mean, low=low, high=high))
        line(ax, name, at, mean, label=plain(label), linewidth=1.4, markersize=5)
        if number < len(panel.levels) and (level := panel.levels[number].ours) is not None:
            style, step = style_of(name), (at[-1] - at[0]) / 30
            ax.errorbar(
                at[-1] + (number + 2) * step,
                level,
                yerr=_ERRORS * (panel.levels[number].standard_error or 0.0),
                fmt=style.marker,
                color=style.color,
                capsize=3,
            )
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        ax.legend(
            handles,
            [plain(label) for label in labels],
            fontsize=7,
            framealpha=0.9,
            handlelength=3.5,
        )


def _shifted(ax: Axes, at: Floats, number: int, n: int) -> Floats:
    """Return the abscissas moved sideways a little, so that the bars of n curves stand apart."""
    part = (number - (n - 1) / 2) / n
    if ax.get_xscale() == "log":
        shifted: Floats = at * 1.5**part
    else:
        step = float(np.diff(at).min()) if len(at) > 1 else 1.0
        shifted = at + 0.35 * step * part
    return shifted


# --- Every strategy under false replies -----------------------------------------------------------

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
    **dict.fromkeys(("entropy-sampled", "map-sampled", "annealing-tuned"), 0.1),
    **dict.fromkeys(("lookahead2", "best"), 0.2),
    **dict.fromkeys(("genetic", "bernier-genetic", "genetic-elitist"), 0.25),
    **dict.fromkeys(("lookahead", "map-unknown-noise", "entropy-unknown-noise"), 0.5),
}
"""The share of the games that strategies play whose guesses take long."""

_FINE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
"""The levels of noise of a full run."""


def _noisy(p: float) -> Channel:
    return Channel.false_reply(CLASSIC, p) if p else Channel.exact(CLASSIC)


def _level(name: str, p: float, games: int, seed: int) -> Iterator[Figure]:
    (found,) = played([strategy_by_name(name)], _noisy(p), games, seed, limit=100)
    yield new(f"{name}, p = {p:g}", found.mean, curve=name, at=p)


def _bound(p: float, partitions: int) -> Iterator[Figure]:
    mean = mean_lower_bound(Channel.false_reply(CLASSIC, p), partitions=partitions).mean
    yield new(f"lower bound, p = {p:g}", mean, curve=_BOUND, at=p)


def _levels(names: Sequence[str], setting: Setting) -> Iterator[Task]:
    games = setting.of(100, 5000, medium=2000)
    for name in names:
        for p in setting.of((0.0, 0.1, 0.2, 0.3), _FINE):
            yield f"{name} {p:g}", _level, name, p, round(games * _DEAR.get(name, 1)), setting.seed


def _levels_and_bounds(setting: Setting) -> Iterator[Task]:
    yield from _levels(_MODELING, setting)
    for p in setting.of((0.1, 0.2, 0.3), _FINE):
        yield f"bound {p:g}", _bound, p, setting.of(3, 4)


def _draw_levels(names: tuple[str, ...], figures: Sequence[Figure]) -> Drawing:
    return draw_panels(
        figures,
        (Panel(curves=names),),
        x="probability of a false reply",
        y="guesses a game (4x6)",
    )


# --- Wrong assumptions ----------------------------------------------------------------------------

_KINDS: Mapping[str, Callable[..., Channel]] = {
    "false": Channel.false_reply,
    "independent": Channel.independent_error,
}
_REAL = (0.1, 0.2, 0.3)
_UNKNOWN = "entropy-unknown-noise"
_ASSUMED = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


def _assumed_curve(kind: str, real: float) -> str:
    return f"{kind}:{real:g} is real"


def _assumption(kind: str, real: float, games: int, seed: int) -> Iterator[Figure]:
    """Yield the means under assumed levels, and what they lose against the real level."""
    channel, entropy = _KINDS[kind](CLASSIC, real), strategy_by_name("entropy")
    (right,) = played([entropy], channel, games, seed, limit=100)
    curve = _assumed_curve(kind, real)
    for p in _ASSUMED:
        assumed = _KINDS[kind](CLASSIC, p)
        (found,) = played([entropy], channel, games, seed, limit=100, assumed=assumed)
        lost = Estimate(0.0, 0.0, games) if p == real else difference(found, right)
        yield new(f"{curve}, {p:g} assumed, guesses lost", lost, curve=curve, at=p)
    yield new(f"{curve} and assumed, guesses", right.mean)


def _learning(kind: str, real: float, games: int, seed: int) -> Iterator[Figure]:
    """Yield what is lost by a player that learns the level while playing."""
    strategies = [strategy_by_name(name) for name in ("entropy", _UNKNOWN)]
    knowing, unknowing = played(strategies, _KINDS[kind](CLASSIC, real), games, seed, limit=100)
    curve = _assumed_curve(kind, real)
    yield new(
        f"{curve}, level learned while playing, guesses lost",
        difference(unknowing, knowing),
        curve=f"{curve}, learned",
    )


def _assumptions(setting: Setting) -> Iterator[Task]:
    games, fewer = setting.of((200, 40), (20_000, 5000), medium=(3000, 1000))
    for kind in _KINDS:
        for real in _REAL:
            yield f"{kind} {real:g} assumed", _assumption, kind, real, games, setting.seed
            yield f"{kind} {real:g} learned", _learning, kind, real, fewer, setting.seed


def _draw_assumptions(figures: Sequence[Figure]) -> Drawing:
    learned = {figure.curve: figure for figure in figures if figure.curve.endswith("learned")}
    panels = []
    for kind, title in zip(_KINDS, ("false replies", "independent errors"), strict=True):
        curves = tuple(_assumed_curve(kind, real) for real in _REAL)
        ends = [f"{curve}, learned" for curve in curves]
        panels.append(
            Panel(
                title=title,
                curves=curves,
                names=tuple(f"{real:g} is real" for real in _REAL),
                styles=("entropy", "map", "knuth"),
                levels=tuple(learned[end] for end in ends if end in learned),
            )
        )
    return draw_panels(
        figures,
        panels,
        x="assumed probability of an error; right: learned while playing",
        y="guesses lost against the right assumption (4x6)",
    )


# --- Information or look-ahead --------------------------------------------------------------------

_LOOKING = ("kooi", "optimal", "lookahead", "lookahead2")


def _looking(name: str, p: float, games: int, seed: int) -> Iterator[Figure]:
    strategies = [strategy_by_name("entropy"), strategy_by_name(name)]
    entropy, found = played(strategies, _noisy(p), games, seed, limit=100)
    saved = difference(entropy, found)
    yield new(f"{name}, p = {p:g}, guesses saved", saved, curve=name, at=p)


def _looks(setting: Setting) -> Iterator[Task]:
    many, some, few = setting.of((250, 100, 40), (20_000, 20_000, 10_000), medium=(3000, 1500, 500))
    for name, games in zip(_LOOKING, (many, many, some, few), strict=True):
        for p in setting.of((0.0, 0.1, 0.2, 0.3), _FINE):
            yield f"{name} {p:g}", _looking, name, p, games, setting.seed


def _draw_looks(figures: Sequence[Figure]) -> Drawing:
    return draw_panels(
        figures,
        (Panel(curves=_LOOKING),),
        x="probability of a false reply",
        y="guesses saved against entropy (4x6)",
    )


# --- To determine a code, to guess it, to declare it under noise ----------------------------------

_DECLARING = ("entropy", "map", "lookahead")
_CERTAINTIES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
_DECLARED_LEVELS = (0.1, 0.2)


def _determining() -> Iterator[Figure]:
    """Yield the totals without noise until the code is known, and until it is guessed."""
    for goal, text in ((Goal.DETERMINING, "known"), (Goal.REVEALING, "guessed")):
        total = optimal_on_average(CLASSIC, goal).total
        yield new(f"best for this goal, total until the code is {text}", total)
    for name in ("knuth", "irving", "neuwirth", "larmouth", "kooi"):
        lengths = build_tree(strategy_by_name(name), Channel.exact(CLASSIC)).lengths
        for value, text in ((lengths.determining, "known"), (lengths.revealing, "guessed")):
            total = round(value * CLASSIC.n_codes)
            yield new(f"{name}, total until the code is {text}", total)


def _declaring(name: str, p: float, certainty: float, games: int, seed: int) -> Iterator[Figure]:
    channel, strategy = Channel.false_reply(CLASSIC, p), strategy_by_name(name)
    ending = Declared(certainty, 100)
    rows = Contest((strategy,), channel, games=games, seed=seed, ending=ending).run().rows
    guesses = Estimate.of([row.guesses for row in rows])
    right = Estimate.share(sum(row.won for row in rows), len(rows))
    curve = f"{name}, p = {p:g}"
    label = f"{curve}, declares at {certainty:g}"
    yield new(f"{label}, guesses", guesses)
    yield new(f"{label}, share right", right, curve=curve, at=guesses.mean)


def _revealed(name: str, p: float, games: int, seed: int) -> Iterator[Figure]:
    channel = Channel.false_reply(CLASSIC, p)
    (found,) = played([strategy_by_name(name)], channel, games, seed, limit=100)
    yield new(f"{name}, p = {p:g}, code revealed, guesses", found.mean)


def _endings(setting: Setting) -> Iterator[Task]:
    yield "determining", _determining
    many, few = setting.of((200, 60), (20_000, 10_000), medium=(3000, 1000))
    for name in _DECLARING:
        games = few if name == "lookahead" else many
        for p in _DECLARED_LEVELS:
            yield f"{name} {p:g} revealed", _revealed, name, p, games, setting.seed
            for certainty in _CERTAINTIES:
                label = f"{name} {p:g} {certainty:g}"
                yield label, _declaring, name, p, certainty, games, setting.seed


def _draw_endings(figures: Sequence[Figure]) -> Drawing:
    panels = [
        Panel(
            title=f"{p:.0%} false replies",
            curves=tuple(f"{name}, p = {p:g}" for name in _DECLARING),
            names=_DECLARING,
            is_share=True,
        )
        for p in _DECLARED_LEVELS
    ]
    return draw_panels(
        figures,
        panels,
        x="guesses before the code is declared (4x6)",
        y="share of codes declared right",
    )


# --- What each selector loses against the best on real answers ------------------------------------

_SELECTORS: Mapping[str, Selector] = {
    "entropy": MinimalEntropy(),
    "gdi": DiscriminationIndex(),
    "kl": KullbackLeibler(),
    "pwkl": KullbackLeibler("pwkl"),
    "mpwkl": KullbackLeibler("mpwkl"),
    "random": RandomItem(),
}
_SETS = {"fraction_subtraction": "fraction subtraction", "aced": "ACED"}
_STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15)


def _loss(place: Path) -> Iterator[Figure]:
    """Yield by how much the predictions of each selector are worse than those of the best."""
    answers = Responses.from_csv(place / "responses.csv")
    bank = partial(learned_bank, read_qmatrix(place / "qmatrix.csv"))
    result = replay(bank, answers, _SELECTORS, MaximalItems(max(_STEPS)))
    title = _SETS[place.name]
    for step in _STEPS:
        best = max(_SELECTORS, key=lambda name: result.mean(name, "accuracy")[0][step])
        for name in _SELECTORS:
            means, errors = result.difference("accuracy", best, name)
            lost = Estimate(float(100 * means[step]), float(100 * errors[step]), len(answers))
            label = f"{title}, {name}, {step} items, percent lost"
            why = "the best at this length" * (name == best)
            yield new(label, lost, curve=f"{title}: {name}", at=step, why=why)


def _losses(setting: Setting) -> Iterator[Task]:
    for name in setting.of(("fraction_subtraction",), tuple(_SETS), medium=tuple(_SETS)):
        yield name, _loss, setting.data_set(name)


def _draw_losses(figures: Sequence[Figure]) -> Drawing:
    drawn = [title for title in _SETS.values() if any(f.curve.startswith(title) for f in figures)]
    panels = [
        Panel(
            title=title,
            curves=tuple(f"{title}: {name}" for name in _SELECTORS),
            names=tuple(_SELECTORS),
        )
        for title in drawn or _SETS.values()
    ]
    return draw_panels(
        figures, panels, x="items asked", y="percent of answers lost against the best selector"
    )


# --- Guesses and cost as pegs and colors grow -----------------------------------------------------

_LISTING = ("kooi", "entropy")
_GROWING = (
    *_LISTING,
    *("entropy-sampled", "metropolis-hastings", "genetic", "annealing", "annealing-tuned"),
)
_GUESSES, _COST = "guesses", "ms a guess"
_MOST_LISTED = 40_000
_TIMED = 4
"""The number of games whose time is measured."""
_SLOW = ("annealing-tuned", "entropy-sampled", "genetic")


def _size(name: str, size: str, games: int, seed: int) -> Iterator[Figure]:
    board, strategy = board_of(size), strategy_by_name(name)
    channel = Channel.exact(board)
    (found,) = played([strategy], channel, games, seed, limit=100)
    # Comparisons cache the choices of deterministic strategies; these games do not.
    started, guesses = time.process_time(), 0
    for game in range(_TIMED):
        guesses += play_game(strategy, CodeMaker.from_seed(channel.revealed(), game)).guesses
    cost = Estimate(1000 * (time.process_time() - started) / guesses, 0.0, _TIMED)
    for what, estimate in ((_GUESSES, found.mean), (_COST, cost)):
        label = f"{name}, {size}, {what}"
        yield new(label, estimate, curve=f"{name} {what}", at=board.n_codes)


def _growth(setting: Setting) -> Iterator[Task]:
    sizes = setting.of(
        ("3x5", "4x6", "5x8", "6x9", "8x12"),
        ("3x5", "4x6", "4x8", "5x8", "6x8", "6x9", "7x10", "8x10", "8x12", "9x12", "10x12"),
    )
    slow, fast = setting.of((8, 60), (300, 2000), medium=(60, 1000))
    for name in _GROWING:
        for size in sizes:
            if name not in _LISTING or board_of(size).n_codes <= _MOST_LISTED:
                games = slow if name in _SLOW else fast
                yield f"{name} {size}", _size, name, size, games, setting.seed


def _draw_growth(figures: Sequence[Figure]) -> Drawing:
    panels = [
        Panel(
            curves=tuple(f"{name} {what}" for name in _GROWING),
            names=_GROWING,
            y=label,
            log_y=what == _COST,
        )
        for label, what in (("guesses a game", _GUESSES), ("processor time, ms a guess", _COST))
    ]
    return draw_panels(figures, panels, x="codes of the board", log_x=True)


PROGRAMS: Mapping[str, Program] = {
    "new-noise-modeling": _levels_and_bounds,
    "new-noise-trusting": partial(_levels, _TRUSTING),
    "new-noise-searching": partial(_levels, _SEARCHING),
    "new-assumed-noise": _assumptions,
    "new-look-ahead": _looks,
    "new-declaring": _endings,
    "new-selector-loss": _losses,
    "new-growing-boards": _growth,
}
"""What computes each experiment, by its name in the catalog."""

DRAWN: Mapping[str, Draw] = {
    "new-noise-modeling": partial(_draw_levels, (*_MODELING, _BOUND)),
    "new-noise-trusting": partial(_draw_levels, _TRUSTING),
    "new-noise-searching": partial(_draw_levels, _SEARCHING),
    "new-assumed-noise": _draw_assumptions,
    "new-look-ahead": _draw_looks,
    "new-declaring": _draw_endings,
    "new-selector-loss": _draw_losses,
    "new-growing-boards": _draw_growth,
}
"""What draws the figures of each."""
