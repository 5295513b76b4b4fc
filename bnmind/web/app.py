"""The application: pages and API, behind the guard."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from bnmind._front_door import installed_version
from bnmind.web import game_api, pages, play_api
from bnmind.web.faults import add_faults
from bnmind.web.game_answers import suggest
from bnmind.web.games import GameQuestion
from bnmind.web.page import STATIC
from bnmind.web.safety import Guard
from bnmind.web.sessions import Sessions
from bnmind.web.settings import WebSettings
from bnmind.web.work import Work

__all__ = ["create_app"]

_ABOUT = "Questions about Mastermind with false replies, answered by Bayesian networks."


def create_app(settings: WebSettings | None = None, *, warm: bool = False) -> Guard:
    """Return the application, for any server that speaks ASGI.

    Parameters
    ----------
    settings
        The settings; those of a server for this machine only by default.
    warm
        Load in the background what the first visitor would wait for.
    """
    chosen = settings or WebSettings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if warm:
            threading.Thread(target=_warm, name="bnmind web warm", daemon=True).start()
        yield
        app.state.work.close()

    app = FastAPI(
        title="bnmind",
        description=_ABOUT,
        version=installed_version(),
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.settings = chosen
    app.state.sessions = Sessions(chosen)
    app.state.work = Work(chosen)
    add_faults(app)
    for part in (pages, game_api, play_api):
        app.include_router(part.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return Guard(app, chosen)


def _warm() -> None:
    suggest(GameQuestion.model_validate({}))
    suggest(GameQuestion.model_validate({"noise": "false:0.1"}))
