"""The pages that people see."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from bnmind.web.base.page import rendered
from bnmind.web.base.schema import grouped
from bnmind.web.mastermind.games import MOST_COLORS, MOST_PEGS
from bnmind.web.networks.models import SHIPPED, SUFFIXES

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_PRIORS = (
    ("uniform", "any code, all alike"),
    ("only-once", "no color twice"),
    ("two-color", "two colors only"),
    ("usually-fewer", "usually two or three colors"),
    ("prefer-fewer", "few colors, one in half of all games"),
)
"""How a code-maker may choose, and in which words the pages say it."""

_SIZES: dict[str, Any] = {"most_pegs": MOST_PEGS, "most_colors": MOST_COLORS, "priors": _PRIORS}


@router.get("/")
async def start(request: Request) -> HTMLResponse:
    """Show what there is."""
    return rendered("start.html", request, title="bnmind")


@router.get("/assist")
async def assist(request: Request) -> HTMLResponse:
    """Help in a game that is played elsewhere."""
    return rendered("assist.html", request, title="Assist", **_SIZES)


@router.get("/play")
async def play(request: Request) -> HTMLResponse:
    """Play against the server."""
    return rendered("play.html", request, title="Play", **_SIZES)


@router.get("/watch")
async def watch(request: Request) -> HTMLResponse:
    """Watch strategies play side by side."""
    return rendered("watch.html", request, title="Watch", **_SIZES)


@router.get("/networks")
async def networks(request: Request) -> HTMLResponse:
    """Show a network, and what evidence tells about it."""
    suffixes = ", ".join(SUFFIXES)
    return rendered("networks.html", request, title="Networks", models=SHIPPED, suffixes=suffixes)


@router.get("/api")
async def api(request: Request) -> HTMLResponse:
    """Describe the JSON API, from its own schema."""
    schema = request.app.openapi()
    return rendered(
        "api.html",
        request,
        title="API",
        groups=grouped(schema),
        address=str(request.base_url).rstrip("/"),
    )


@router.get("/favicon.ico")
async def icon() -> RedirectResponse:
    """Lead to the icon."""
    return RedirectResponse("/static/icon.svg")
