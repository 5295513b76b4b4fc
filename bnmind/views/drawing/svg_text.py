"""Numbers and texts as SVG writes them."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from bnmind._messages import visible

__all__ = ["attribute", "escaped", "number"]


def number(value: float, digits: int = 1) -> str:
    """Return a number in as few characters as a tenth of a pixel needs.

    >>> number(12.0), number(0.25), number(-0.01)
    ('12', '0.2', '0')
    """
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def escaped(text: str) -> str:
    """Return a text as the content of an element."""
    return escape("\n".join(visible(line) for line in text.split("\n")))


def attribute(text: str) -> str:
    """Return a text as the value of an attribute, with its quotes."""
    return quoteattr(visible(text))


def scaled(svg: str) -> str:
    """Return a picture that shrinks to the width of a notebook's cell.

    >>> scaled('<svg width="900"></svg>')
    '<svg style="max-width:100%;height:auto" width="900"></svg>'
    """
    return svg.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
