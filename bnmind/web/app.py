"""The application: pages and API, behind the guard."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from bnmind._front_door import installed_version
from bnmind.web import pages
from bnmind.web.base.answer import REFUSALS
from bnmind.web.base.faults import add_faults
from bnmind.web.base.page import STATIC
from bnmind.web.base.safety import Guard
from bnmind.web.base.settings import WebSettings
from bnmind.web.base.work import GAMES, NETWORKS, WATCHED, Work, load
from bnmind.web.mastermind import game_api, picture_api, play_api, watch_api
from bnmind.web.mastermind.game_answers import suggest
from bnmind.web.mastermind.games import GameQuestion
from bnmind.web.networks import network_api
from bnmind.web.networks.first_questions import first_questions
from bnmind.web.networks.models import Models
from bnmind.web.networks.network_answers import posterior
from bnmind.web.testing import people_pages, taking_api, teacher_api
from bnmind.web.testing.offered import OfferedTest, offered_demonstration

__all__ = ["create_app"]

_ABOUT = (
    "Questions about Mastermind with false replies and about Bayesian networks, answered exactly."
)


def create_app(
    settings: WebSettings | None = None, *, warm: bool = False, tests: OfferedTest | None = None
) -> Guard:
    """Return the application, for any server that speaks ASGI.

    Parameters
    ----------
    settings
        The settings; those of a server for this machine only by default.
    warm
        Load in the background what the first visitor would wait for.
    tests
        The test that people take; default a demonstration.
    """
    chosen = settings or WebSettings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if warm:
            parts = (app.state.work, app.state.tests)
            threading.Thread(target=_warm, args=parts, daemon=True).start()
        yield
        app.state.work.close()
        app.state.tests.close()

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
    app.state.work = Work(chosen)
    app.state.models = Models()
    app.state.tests = tests or offered_demonstration()
    add_faults(app)
    parts = (pages, game_api, picture_api, play_api, watch_api, network_api)
    for part in (*parts, taking_api, teacher_api, people_pages):
        app.include_router(part.router, responses=REFUSALS)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return Guard(app, chosen)


_NOISES = ("exact", "false:0.1", "unknown")
_PATIENCE = 3.0
"""How long the preparation waits for visitors before each step, in seconds."""


def _warm(work: Work, tests: OfferedTest) -> None:
    """Load what the first visitors would wait for, the most urgent first.

    Compiled code comes last: until it is loaded, answers are computed without it. If there is none
    on this machine, the compiler takes a minute, in which questions about large networks wait.
    """
    load(*GAMES)
    if not tests.is_demonstration:
        tests.live().prepare()
    for noise in _NOISES:
        suggest(GameQuestion.model_validate({"noise": noise}), once=True)
    for needed in (("numba",), NETWORKS, WATCHED):
        work.wait(_PATIENCE)
        load(*needed)
    for noise in _NOISES:
        work.wait(_PATIENCE)
        suggest(GameQuestion.model_validate({"noise": noise}), once=False)
    work.is_warm = True
    models = Models()
    for question in first_questions():
        work.wait(_PATIENCE)
        posterior(models, question)
