"""Pages from templates, which escape every text that they are given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bnmind._front_door import installed_version

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
"""The folder of the style sheet and the scripts."""

AREAS = (
    ("/", "Start"),
    ("/assist", "Assist"),
    ("/play", "Play"),
    ("/watch", "Watch"),
    ("/networks", "Networks"),
    ("/tests", "Test"),
    ("/api", "API"),
)
"""The addresses and names in the navigation."""


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(
    name: str,
    request: Request,
    *,
    title: str,
    areas: Sequence[tuple[str, str]] = AREAS,
    **values: Any,
) -> HTMLResponse:
    """Return the page of a template; the first of the areas is behind the name of the page."""
    text = (
        _templates()
        .get_template(name)
        .render(
            title=title,
            areas=areas,
            here=request.url.path,
            version=installed_version(),
            seconds=f"{request.app.state.settings.seconds:g}",
            **values,
        )
    )
    return HTMLResponse(text)
