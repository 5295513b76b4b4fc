"""The color, the marker, the dashes and the hatching of a strategy, the same in every plot.

The style is a function of the name alone. Registered strategies differ in the pair of marker and
dashes, and in the pair of color and hatching, so they can be told apart in black and white too.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind._values import Value

__all__ = ["Style", "style_of"]

Dashes = str | tuple[float, tuple[float, ...]]

# Colors for color-blind readers (Okabe and Ito), without yellow, which is faint on paper; a violet
# instead. Neighbors differ in lightness.
_COLORS = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#5D3A9B"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_DASHES: tuple[Dashes, ...] = (
    *("solid", (0.0, (5.0, 2.0)), (0.0, (1.5, 1.5)), (0.0, (6.0, 2.0, 1.5, 2.0))),
    *((0.0, (9.0, 2.0)), (0.0, (4.0, 1.5, 1.0, 1.5, 1.0, 1.5)), (0.0, (1.5, 4.0))),
)
_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "||")

_PLACES = len(_COLORS) * len(_MARKERS) * len(_DASHES)
"""These numbers have no common divisor, so as many names can have styles of their own."""

_KNOWN = (
    *("entropy", "map", "knuth", "kooi", "random", "optimal", "best", "lookahead"),
    *("irving", "neuwirth", "maxmin", "larmouth", "weighted-entropy", "shapiro", "lookahead2"),
    *("deeper", "optimal-worst", "random-consistent", "subset", "eda", "eda-entropy"),
    *("local-entropy", "snyder", "snyder-learned", "metropolis-hastings"),
    *("entropy-unknown-noise", "map-unknown-noise", "genetic", "genetic-tuned"),
    *("genetic-elitist", "bernier-random", "bernier-genetic", "annealing", "annealing-tuned"),
    *("entropy-sampled", "map-sampled"),
    # Selectors of adaptive tests.
    *("skills", "gdi", "kl", "fisher", "loss", "pwkl", "mpwkl", "order"),
    *("per-cost", "per-time", "lower bound", "randomesque", "mepv", "a-stratified"),
    "progressive",
)
"""Names in the order of their styles. Append others; a change of the order changes pictures."""


@dataclass(frozen=True)
class Style(Value):
    """How a strategy looks, in the words of matplotlib."""

    color: str
    """The color of lines, markers and bars."""
    marker: str
    """The marker of points."""
    dashes: Dashes
    """The dashes of lines."""
    hatch: str
    """The hatching of bars; empty for a plain bar."""


@checked
def style_of(name: str) -> Style:
    """Return the style of a strategy, or of anything else that has a name.

    The same name has the same style in every plot and in every version. Names that are not
    registered get theirs from a checksum, so two of them may look alike, which is rare.

    Parameters
    ----------
    name
        The name of a strategy, a selector, or anything else.

    Examples
    --------
    >>> style_of("entropy").color, style_of("entropy").marker
    ('#0072B2', 'o')
    >>> style_of("my strategy") == style_of("my strategy")
    True
    """
    place = _KNOWN.index(name) if name in _KNOWN else zlib.crc32(name.encode()) % _PLACES
    return Style(
        _COLORS[place % len(_COLORS)],
        _MARKERS[place % len(_MARKERS)],
        _DASHES[place % len(_DASHES)],
        _HATCHES[place % len(_HATCHES)],
    )
