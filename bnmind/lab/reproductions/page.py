"""Results of reproductions as text: cells of tables, summaries, and a page in Markdown."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from bnmind._display import Strong, Table
from bnmind._messages import counted
from bnmind.lab.reproductions.figures import Figure, Standing, Verdict
from bnmind.lab.reproductions.reproduction import Reproduction, Size
from bnmind.lab.reproductions.saved import SavedRun

_STANDINGS = (*Standing, None)
_UNKNOWN = "source not recorded"
COLUMNS = (
    *("figure", *(standing.value if standing else _UNKNOWN for standing in _STANDINGS)),
    *("bnmind", "std error", "games", "verdict"),
)
"""The columns of a table of figures: a reference is in the column of where it stands."""

_WORDS = ("figure", "verdict", "remark")
"""The columns of text."""

_NO_COMPARISON = (Verdict.NEW, Verdict.QUOTED)


def cells(figure: Figure) -> tuple[str, ...]:
    """Return the cells of a figure, one for each of `COLUMNS`.

    Examples
    --------
    >>> from bnmind.lab.reproductions import Estimate, Reference, Standing, measured
    >>> paper = Reference(4.6066, Standing.PUBLICATION)
    >>> cells(measured("guesses", Estimate(4.6098, 0.002, 200_000), paper))
    ('guesses', '4.6066', '', '', '', '4.6098', '0.0020', '200,000', 'agrees')
    """
    digits = _digits(figure.standard_error)
    return (
        figure.name,
        *(_number(figure.reference) if figure.standing is one else "" for one in _STANDINGS),
        _number(figure.ours, digits),
        _number(figure.standard_error, digits),
        "" if figure.games is None else f"{figure.games:,}",
        figure.verdict.value + ", fitted" * figure.fitted,
    )


def table(figures: Sequence[Figure], *, remarks: bool = False) -> tuple[tuple[str, ...], ...]:
    """Return the columns of a table of figures, and its rows, without empty columns.

    Parameters
    ----------
    figures
        The figures, one for each row.
    remarks
        Whether the last column has the remarks.
    """
    rows: list[tuple[str, ...]] = [(*COLUMNS, "remark")]
    rows += [(*cells(figure), figure.why) for figure in figures]
    kept = [
        number
        for number, name in enumerate(rows[0])
        if any(row[number] for row in rows[1:]) and (remarks or name != "remark")
    ]
    return tuple(tuple(row[number] for number in kept) for row in rows)


def parts_of_run(run: SavedRun, reproduction: Reproduction) -> Iterator[str | Table]:
    """Yield what a terminal shows of a run: the figures, remarks on them, and a summary.

    Parameters
    ----------
    run
        The run.
    reproduction
        What was reproduced.
    """
    yield Strong(f"\n{run.name}: {reproduction.title}")
    yield f"Source: {reproduction.source}."
    if run.skipped:
        yield f"Skipped: {run.skipped}."
        return
    columns, *rows = table(run.figures)
    yield Table(columns, rows, left=(0, len(columns) - 1))
    remarks: dict[str, list[str]] = {}
    for figure in run.figures:
        if figure.why:
            remarks.setdefault(figure.why, []).append(figure.name)
    for why, names in remarks.items():
        others = f" and {counted(len(names) - 1, 'other')}" if len(names) > 1 else ""
        yield f"  {names[0]}{others}: {why}."
    size = f", {run.size.value} run" if run.size.value != "full" else ""
    yield f"{summary(run.figures)}{size}."


def summary(figures: Sequence[Figure]) -> str:
    """Return how many figures have each verdict, such as "8 agree, 1 differs".

    Verdicts are counted apart by where the references stand, and if the reading was fitted.

    Examples
    --------
    >>> from bnmind.lab.reproductions import Reference, Standing, exact
    >>> figures = [exact("a", 1, 1), exact("b", 2, 2), exact("c", 3, 2)]
    >>> summary(figures)
    '2 agree, 1 differs'
    >>> summary([*figures, exact("d", 4, Reference(4, Standing.PUBLICATION))])
    'publication: 1 agrees; our own: 2 agree, 1 differs'
    """
    compared = [figure for figure in figures if figure.verdict not in _NO_COMPARISON]
    standings = {figure.standing for figure in compared}
    if len(standings) > 1:
        parts = [
            f"{standing.value if standing else _UNKNOWN}:"
            f" {summary([figure for figure in compared if figure.standing is standing])}"
            for standing in _STANDINGS
            if standing in standings
        ]
        parts.append(_counted([figure for figure in figures if figure.verdict in _NO_COMPARISON]))
        return "; ".join(filter(None, parts))
    fitted = [figure for figure in figures if figure.fitted]
    parts = [_counted([figure for figure in figures if not figure.fitted])]
    parts.append(f"fitted: {_counted(fitted)}" if fitted else "")
    return "; ".join(filter(None, parts))


def _counted(figures: Sequence[Figure]) -> str:
    counts = Counter(figure.verdict for figure in figures)
    words = {
        Verdict.AGREES: ("agrees", "agree"),
        Verdict.TOO_FEW: ("has too few games to tell", "have too few games to tell"),
        Verdict.BETTER: ("is better", "are better"),
        Verdict.DIFFERS: ("differs", "differ"),
        Verdict.NEW: ("is new", "are new"),
        Verdict.QUOTED: ("is quoted", "are quoted"),
    }
    return ", ".join(
        f"{counts[verdict]} {words[verdict][counts[verdict] > 1]}"
        for verdict in Verdict
        if counts[verdict]
    )


def duration(seconds: float) -> str:
    """Return a time as one number and its unit.

    >>> duration(42), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    if seconds < 6000:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.2g} h"


def page(
    runs: Sequence[SavedRun],
    reproductions: Mapping[str, Reproduction],
    *,
    command: str,
    pictures: Mapping[str, str],
) -> str:
    """Return a page in Markdown with the results of runs.

    Parameters
    ----------
    runs
        The runs.
    reproductions
        The reproductions by name.
    command
        The command that made the runs.
    pictures
        The path of the plot of each reproduction that has one, relative to the page.
    """
    figures = [figure for run in runs for figure in run.figures]
    days = sorted({run.date for run in runs if run.date})
    sizes = [size for size in Size if any(run.size is size for run in runs)]
    seconds = sum(run.seconds for run in runs if run.size is sizes[0])
    versions = ", ".join(sorted({run.version for run in runs}))
    lines = [
        "# Reproductions",
        "",
        "This page shows the figures of others beside those of bnmind, and experiments that nobody",
        "has published. Each section is one reproduction. This command computed the page:",
        "",
        f"    {command}",
        "",
        f"Date: {' to '.join(dict.fromkeys((*days[:1], *days[-1:])))}; bnmind {versions};"
        f" {duration(seconds)} of processor time; {_format_sizes(sizes)}",
        "",
        *_counts(figures),
        "The columns say where the other figure stands. *Publication*: a publication states it, or",
        "published data determine it. *Other program*: another program computes it, and we know of",
        "no publication. *Our own*: we computed it independently, by a second simulation, a proof",
        "or a replication.",
        "",
        "A simulated figure *differs* from another one if they are more than three standard errors",
        "of the difference apart. Otherwise it *agrees*, if a difference of 1.5 % (of a standard",
        "deviation, 10 %) would have been found with a probability of at least 80 %; else there",
        "were *too few games to tell*. 1.5 % is a little more than what separates the strategies",
        "of Knuth and Neuwirth on 4x6. The verdict is about the longest run that is known, which",
        "the remark names if it is not the run of the line. An exact figure agrees if it is equal",
        "to the digits of the other. *Fitted* means that the description can be read in several",
        "ways, and that we chose this reading after we knew the figure. *Better* means fewer",
        "guesses, a higher accuracy or a tighter bound. *Quoted* figures, such as those of human",
        "players, have no program. The standard error is ours; the verdict takes that of the other",
        "figure into account where it is known.",
    ]
    for run in runs:
        lines += ["", *_section(run, reproductions[run.name], pictures.get(run.name), sizes)]
    return "\n".join(lines) + "\n"


def command_of(runs: Sequence[SavedRun], names: str = "") -> str:
    """Return the command that makes runs of one size and seed.

    Parameters
    ----------
    runs
        The runs, at least one.
    names
        The names as the command gives them, such as ``all``; by default those of the runs.
    """
    size, seed = runs[0].size, runs[0].seed
    command = f"bnmind reproduce {names or ' '.join(run.name for run in runs)}"
    command += "" if size is Size.FULL else f" --{size.value}"
    return command + (f" --seed {seed}" if seed else "")


def small_picture(content: bytes) -> bytes:
    """Return the content of a PNG file with 128 colors, a third as large."""
    from PIL import Image

    picture = io.BytesIO()
    with Image.open(io.BytesIO(content)) as image:
        image.convert("RGB").quantize(128).save(picture, format="PNG", optimize=True)
    return picture.getvalue()


def _counts(figures: Sequence[Figure]) -> list[str]:
    """Return a list with the numbers of verdicts by standing; nothing without comparisons."""
    compared = [figure for figure in figures if figure.verdict not in _NO_COMPARISON]
    if not compared:
        return []
    lines = []
    for standing in _STANDINGS:
        some = [figure for figure in compared if figure.standing is standing]
        if some:
            name = standing.value if standing else _UNKNOWN
            lines.append(f"* Beside {len(some)} of *{name}*: {summary(some)}.")
    if others := len(figures) - len(compared):
        lines.append(f"* {others} {'other is' if others == 1 else 'others are'} new or quoted.")
    return [*lines, ""]


def _format_sizes(sizes: Sequence[Size]) -> str:
    """Return the sizes of runs in words; the first is that of the command."""
    words = {
        Size.QUICK: "a quick run, with fewer games than a full one",
        Size.MEDIUM: "a medium run, with fewer games than a full one",
        Size.FULL: "a full run",
    }
    others = " Sections of larger runs say so." if len(sizes) > 1 else ""
    return f"{words[sizes[0]]}.{others}"


def _section(
    run: SavedRun, reproduction: Reproduction, picture: str | None, sizes: Sequence[Size]
) -> list[str]:
    lines = [f"## {run.name}: {reproduction.title}", "", f"Source: {reproduction.source}."]
    if run.skipped:
        return [*lines, "", f"Skipped: {run.skipped}."]
    if run.size is not sizes[0]:
        lines += ["", f"A {run.size.value} run of {run.date}:", "", f"    {command_of([run])}"]
    if reproduction.text:
        lines += ["", reproduction.text]
    if reproduction.quick_text and run.size is Size.QUICK:
        lines += ["", reproduction.quick_text]
    if picture is not None:
        lines += ["", f"![{reproduction.title}]({picture})"]
    lines += ["", f"{summary(run.figures)[:1].upper()}{summary(run.figures)[1:]}.", ""]
    curves, others = _curves(run.figures) if reproduction.abscissa else ({}, run.figures)
    if curves:
        lines += _pivot(curves, reproduction.abscissa)
    if curves and others:
        lines.append("")
    if others:
        columns, *rows = table(others, remarks=True)
        lines.append(_line(columns))
        lines.append("|" + "|".join("---" if name in _WORDS else "---:" for name in columns) + "|")
        lines += map(_line, rows)
    return lines


def _curves(
    figures: Sequence[Figure],
) -> tuple[Mapping[str, Mapping[float, Figure]], Sequence[Figure]]:
    """Return the figures of each curve by their abscissa, and all other figures."""
    curves: dict[str, dict[float, Figure]] = {}
    for figure in figures:
        if figure.at is not None:
            curves.setdefault(figure.curve, {})[figure.at] = figure
    return curves, [figure for figure in figures if figure.at is None]


def _pivot(curves: Mapping[str, Mapping[float, Figure]], abscissa: str) -> list[str]:
    """Return a table with a row for each curve, and a column for each abscissa."""
    places = sorted({place for points in curves.values() for place in points})
    games = {
        name: {point.games for point in points.values() if point.games is not None}
        for name, points in curves.items()
    }
    lines = [_line(["", *(f"{abscissa} = {_number(place)}" for place in places), "games"])]
    lines.append("|---|" + "---:|" * (len(places) + 1))
    for name, points in curves.items():
        row = [_mean(points[place]) if place in points else "" for place in places]
        lines.append(_line([name, *row, ", ".join(f"{n:,}" for n in sorted(games[name]))]))
    return lines


def _mean(figure: Figure) -> str:
    """Return a figure with its standard error, as in 4.61 ± 0.02; a time has three digits."""
    if figure.standard_error == 0 and figure.ours is not None:
        return _number(float(f"{figure.ours:.3g}"))
    *_, ours, error, _, _ = cells(figure)
    return f"{ours} ± {error}" if figure.standard_error else ours


def _line(row: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _digits(error: float | None) -> int | None:
    """Return the number of digits after the point that show two digits of a standard error."""
    if error is None or not math.isfinite(error) or error <= 0:
        return None
    return max(0, 1 - math.floor(math.log10(error)))


def _number(value: float | None, digits: int | None = None) -> str:
    if value is None:
        return ""
    if digits is not None:
        return f"{value:,.{digits}f}"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.7g}"
