"""Draw charts of tables of other pages: each from the tables of the page that shows it.

    python -m docs.draw_pages

writes ``docs/images/page-*.png``; with ``--out DIR``, it writes elsewhere. Nothing is computed.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bnmind.views.draw import new_figure, polish
from docs.draw_results import BLACK, BLUE, GRAY, GREEN, ORANGE, RED
from docs.result_tables import DOCS, number, sections, tables


def with_error(cell: str) -> tuple[float, float]:
    """Return a number and two standard errors, of a cell such as ``5.49 ± 0.01``.

    >>> with_error("−0.5 ± 0.1")
    (-0.5, 0.2)
    """
    mean, _, error = cell.partition("±")
    return number(mean), 2 * number(error) if error else 0.0


def play_under_noise(path: Path) -> None:
    """Draw the guesses that players need more than ``entropy``, for each kind of noise."""
    text = (DOCS / "play-under-noise.md").read_text(encoding="utf-8")
    rows = [row for row in next(tables(text)) if row["minus `entropy`"]]
    levels = list(dict.fromkeys(row["noise"] for row in rows))
    figure = new_figure(9, 3.4)
    left, right = figure.subplots(1, 2, width_ratios=[3, 1.3])
    styles = {
        "`kooi`": ("D", RED, -0.24),
        "`optimal`": ("x", GRAY, -0.08),
        "`lookahead`": ("<", GREEN, 0.08),
        "`lookahead2`": ("o", BLUE, 0.24),
    }
    for axes, shown in ((left, levels[:-1]), (right, levels[-1:])):
        axes.axhline(0, color=BLACK, linewidth=1)
        for player, (marker, color, shift) in styles.items():
            own = [row for row in rows if row["strategy"] == player and row["noise"] in shown]
            if not own:
                continue
            x = [shown.index(row["noise"]) + shift for row in own]
            y, errors = zip(*(with_error(row["minus `entropy`"]) for row in own), strict=True)
            label = player.strip("`")
            axes.errorbar(x, y, errors, fmt=marker, color=color, capsize=3, label=label)
        axes.set_xticks(range(len(shown)), shown)
        axes.set_xlim(-0.5, len(shown) - 0.5)
        polish(axes)
    left.set_ylabel("guesses a game, minus entropy")
    left.legend(loc="upper left", fontsize="small")
    figure.savefig(path, dpi=100)


def priors(path: Path) -> None:
    """Draw the guesses if the habits of the code-maker are unknown, learned, or known."""
    both = list(tables(sections(DOCS / "priors.md")["Learning over a match"]))
    figure = new_figure(9, 3.8)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, rows, title in zip(panels, both, ("20 % false replies", "true replies"), strict=True):
        names = [row["code-maker"].strip("`") for row in rows]
        for column, color, marker, shift in (
            ("prior known", GREEN, "<", -0.2),
            ("prior learned", BLUE, "o", 0.0),
            ("uniform assumed", RED, "D", 0.2),
        ):
            x, errors = zip(*(with_error(row[column]) for row in rows), strict=True)
            y = [place + shift for place in range(len(rows))]
            axes.errorbar(x, y, xerr=errors, fmt=marker, color=color, label=column, capsize=2)
        axes.set_yticks(range(len(rows)), names)
        axes.set_title(title, loc="left")
        axes.set_xlabel("mean number of guesses")
        polish(axes, grid="x")
    panels[0].invert_yaxis()
    panels[1].legend(loc="lower left", fontsize="small")
    figure.savefig(path, dpi=100)


def large_boards(path: Path) -> None:
    """Draw the guesses on large boards, with true and with false replies."""
    found = sections(DOCS / "large-boards.md")
    true = next(tables(found["Games with true replies"]))
    false = next(tables(found["Games with false replies"]))
    figure = new_figure(9, 3.4)
    panels = figure.subplots(1, 2)
    left, right = panels
    for shift, player, color, marker in (
        (0.0, "metropolis-hastings", RED, "x"),
        (0.08, "map-sampled", GREEN, "^"),
        (-0.08, "entropy-sampled", BLUE, "o"),
    ):
        y, errors = zip(*(with_error(row[f"`{player}`"]) for row in false), strict=True)
        x = [place + shift for place in range(len(false))]
        right.errorbar(x, y, errors, fmt=marker, color=color, label=player, capsize=3)
    right.set_ylabel("mean number of guesses")
    right.legend(loc="upper left", fontsize="small")
    own, errors = zip(*(with_error(row["`entropy-sampled`"]) for row in true), strict=True)
    fewer = [number(row["published"]) - mean for row, mean in zip(true, own, strict=True)]
    left.errorbar(range(len(true)), fewer, errors, fmt="o", color=BLUE, capsize=3)
    left.set_yscale("log")
    left.set_ylabel("guesses fewer than published")
    for axes, rows, title in (
        (left, true, "true replies, entropy-sampled"),
        (right, false, "20 % false replies"),
    ):
        axes.set_xticks(range(len(rows)), [row["board"] for row in rows])
        axes.set_title(title, loc="left")
        axes.set_xlabel("board, pegs × colors")
        polish(axes)
    figure.savefig(path, dpi=100)


def new_evidence(path: Path) -> None:
    """Draw how many times as fast as pyAgrum an engine answers about new evidence."""
    text = sections(DOCS / "inference-benchmarks.md")["Evidence that no question had before"]
    rows = next(t for t in tables(text) if "times as fast" in t[0])
    rows.sort(key=lambda row: number(row["times as fast"]))
    names = [row["milliseconds"] for row in rows]
    figure = new_figure(8, 5)
    axes = figure.add_subplot()
    axes.axvline(1, color=BLACK, linewidth=1)
    for name, row in zip(names, rows, strict=True):
        low, high = map(float, re.findall(r"\(([\d.]+)–([\d.]+)\)", row["times as fast"])[0])
        axes.plot([low, high], [name, name], color=GRAY, linewidth=1.5)
    axes.plot([number(row["times as fast"]) for row in rows], names, "o", color=BLUE)
    axes.set_xscale("log")
    axes.set_xlabel("times as fast as pyAgrum; the line is the range of nine questions")
    polish(axes, grid="both")
    figure.savefig(path, dpi=100)


def subsets(path: Path) -> None:
    """Draw the guesses by the size of the subset in which the best guess is searched."""
    text = (DOCS / "runarsson-merelo.md").read_text(encoding="utf-8")
    rows = next(t for t in tables(text) if "MU" in t[0])
    places = range(len(rows))
    figure = new_figure(8, 3.4)
    axes = figure.add_subplot()
    for column, label, color, marker in (
        ("`entropy`, replicated", "entropy, replicated", ORANGE, "D"),
        ("`entropy`", "entropy", BLUE, "o"),
        ("`most-parts`", "most parts", GREEN, "^"),
        ("`expected-size`", "expected size", BLACK, "x"),
        ("`worst-case`", "worst case", RED, "s"),
    ):
        means = [number(row[column]) for row in rows]
        shown = [(i, mean) for i, mean in zip(places, means, strict=True) if mean == mean]
        x, y = zip(*shown, strict=True)
        line = "none" if "replicated" in label else "-"
        axes.plot(x, y, marker=marker, color=color, label=label, linestyle=line, linewidth=1)
    axes.set_xticks(places, [row["MU"].removesuffix(", exact") for row in rows])
    axes.set_xlabel("possible codes in the subset")
    axes.set_ylabel("mean number of guesses")
    axes.legend(loc="upper right", bbox_to_anchor=(1, 0.62), fontsize="small", ncols=3)
    polish(axes)
    figure.savefig(path, dpi=100)


CHARTS: Mapping[str, Callable[[Path], None]] = {
    "play-under-noise": play_under_noise,
    "priors": priors,
    "large-boards": large_boards,
    "inference-benchmarks": new_evidence,
    "runarsson-merelo": subsets,
}
"""The charts, by the name of the page whose tables they show."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw all charts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=DOCS / "images")
    out = parser.parse_args(arguments).out
    for page, draw in CHARTS.items():
        draw(out / f"page-{page}.png")


if __name__ == "__main__":
    main()
