"""Bayesian networks: those that the pages know, questions about them, answers and addresses.

Some networks come with the libraries, others are files of visitors; nothing of a visitor is kept
between requests.
"""

from __future__ import annotations

import gzip
import importlib.util
import math
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fastapi import APIRouter, Request
from pydantic import Field, model_validator

from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    ModelFileError,
    TooLargeError,
)
from bnmind.web.forms import Form
from bnmind.web.work import NETWORKS, Turn, work_of

if TYPE_CHECKING:
    from bnmind.junction import Engine, Posterior
    from bnmind.pgm import Network

_T = TypeVar("_T")

SHIPPED: Mapping[str, str] = {
    "asia": "Asia: chest clinic (Lauritzen and Spiegelhalter, 1988)",
    "cancer": "Cancer: smoking and X-ray (Korb and Nicholson, 2010)",
    "earthquake": "Earthquake: an alarm and two neighbors (Korb and Nicholson, 2010)",
    "survey": "Survey: who travels how (Scutari and Denis, 2014)",
    "sachs": "Sachs: signals in a cell (Sachs et al., 2005)",
    "child": "Child: birth asphyxia (Spiegelhalter, 1992)",
    "alarm": "Alarm: monitoring of patients (Beinlich et al., 1989)",
    "mastermind-1": "Mastermind 3×4, Vomlel's stage 1: code, guess and reply",
    "mastermind-2": "Mastermind 3×4, Vomlel's stage 2: after the guess 1 2 3",
}
"""The networks that need no file: those of pgmpy's package, and Vomlel's."""

SUFFIXES = (".bif", ".xmlbif", ".bifxml", ".xdsl", ".net", ".json", ".uai")
"""The formats that the page names; see `bnmind.pgm.files.MODEL_FORMATS`."""

_MASTERMIND = "mastermind-"
_MOST_CELLS = 2**20
_MOST_VARIABLES = 500
_MULTIPLICATIONS = 2**31
_BYTES = 2**28
_REMEMBERED = 12


class Model(Form):
    """A network: one by name, or the text of a file."""

    name: str | None = Field(
        None, max_length=40, description=f"One of {', '.join(SHIPPED)}.", examples=["asia"]
    )
    file: str | None = Field(None, max_length=200)
    """The name of a file; its suffix tells the format."""
    text: str | None = None
    """The text of the file."""

    @model_validator(mode="after")
    def _one(self) -> Model:
        if (self.name is None) == (self.file is None or self.text is None):
            raise ValueError("give the name of a network, or a file and its text")
        return self


@dataclass(frozen=True)
class Opened:
    """A network that is ready to be asked."""

    title: str
    network: Network
    engine: Engine
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Whoever asks the engine holds it."""


@lru_cache(maxsize=_REMEMBERED)
def opened_network(model: Model) -> Opened:
    """Return a network that is ready to be asked; the last ones are remembered.

    Raises
    ------
    InvalidArgumentError
        If no network has the name.
    ModelFileError
        If the text is no network in the format of the suffix.
    TooLargeError
        If the network is too large for a page.
    """
    from bnmind.junction import Limits, compile_model

    if model.name is not None:
        if model.name not in SHIPPED:
            raise InvalidArgumentError(
                f"expected the name of a network, one of {', '.join(SHIPPED)}", model.name
            )
        title, network = SHIPPED[model.name], _shipped(model.name)
    else:
        title, network = Path(model.file or "").name, _read(model.file or "", model.text or "")
    if len(network.variables) > _MOST_VARIABLES:
        raise TooLargeError(
            f"this page shows networks of at most {_MOST_VARIABLES} variables, not"
            f" {len(network.variables):,}; bnmind query answers about larger ones",
            needed=len(network.variables),
            budget=_MOST_VARIABLES,
        )
    limits = Limits(max_bytes=_BYTES, max_multiplications=_MULTIPLICATIONS)
    return Opened(title, network, compile_model(network, memory=2**25, limits=limits))


def _shipped(name: str) -> Network:
    if name.startswith(_MASTERMIND):
        from bnmind.mastermind import Board, stage
        from bnmind.pgm import Network

        model = stage(Board(3, 4), int(name.removeprefix(_MASTERMIND))).model
        assert isinstance(model, Network)
        return model
    found = importlib.util.find_spec("pgmpy")
    folders = [] if found is None else found.submodule_search_locations or []
    for folder in folders:
        path = Path(folder, "utils", "example_models", f"{name}.bif.gz")
        if path.is_file():
            return _read(f"{name}.bif", gzip.decompress(path.read_bytes()).decode())
    raise InvalidArgumentError(f"the installed version of pgmpy has no network {name}", name)


def _read(name: str, text: str) -> Network:
    """Read a network from a text; nothing is read from a file, whatever the name is."""
    from bnmind.pgm.files import MODEL_FORMATS
    from bnmind.pgm.formats.declared import Reading
    from bnmind.pgm.formats.model_format import ModelSource

    suffix = Path(name).suffix.lower()
    if suffix not in MODEL_FORMATS:
        raise ModelFileError(
            f"expected a file name ending in {', '.join(MODEL_FORMATS)}, got {name!r}", name
        )
    # Some formats look for a second file beside the first: there is no such folder.
    nowhere = Path(f"/{secrets.token_hex(16)}", f"network{suffix}")
    source = ModelSource(nowhere, text.encode(), _MOST_CELLS, Reading(normalize=True))
    return MODEL_FORMATS[suffix].read_network(source)


# --- Questions and answers ------------------------------------------------------------------------

MOST_DRAWN = 60
"""Networks of more variables have no picture on the page."""


class NetworkQuestion(Form):
    """A network and the evidence."""

    model: Model
    evidence: dict[str, str | dict[str, float]] = Field({}, max_length=500)
    """The state of each observed variable, or a likelihood {state: weight}."""


class PictureQuestion(NetworkQuestion):
    """A network, the evidence, and other evidence to compare it with."""

    compare: dict[str, str | dict[str, float]] | None = Field(None, max_length=500)
    """Other evidence, whose bars are drawn above the others."""


class RankQuestion(NetworkQuestion):
    """A network, the evidence, and the variables of interest."""

    about: list[str] = Field(min_length=1, max_length=5)
    """The variables about which to learn."""


class Variable(Form):
    """A variable and its distribution."""

    name: str
    states: list[str]
    parents: list[str]
    posterior: list[float]
    """The probability of each state."""


class Queried(Form):
    """The distribution of every variable, given the evidence."""

    title: str
    variables: list[Variable]
    log_probability: float
    """The natural logarithm of that of the evidence."""
    words: str
    drawn: bool
    """Whether there is a picture of the network."""


class Picture(Form):
    """A picture."""

    svg: str


class RankedQuestion(Form):
    """A variable that can be observed."""

    question: str
    """The variable."""
    information: float
    """What its state should tell, in bits."""
    expected_entropy: float
    """What should be unknown then, in bits."""
    predicted: dict[str, float]
    """The probability of each of its states."""


class Ranked(Form):
    """What to observe next, best first."""

    about: list[str]
    entropy: float
    """What is unknown of the variables of interest, in bits."""
    rows: list[RankedQuestion]


class Explained(Form):
    """The most probable states of all variables together."""

    states: dict[str, str]
    log_probability: float
    """Of the states and the evidence; natural."""
    probability_given_evidence: float = Field(ge=0)
    words: str


def posterior(question: NetworkQuestion) -> Queried:
    """Return the distribution of each variable, and the probability of the evidence."""
    opened = opened_network(question.model)
    found = _posterior(opened, question)
    evidence = question.evidence
    variables = []
    for variable in opened.network.variables:
        name = variable.name
        hard = evidence.get(name)
        shares = (
            [float(state == hard) for state in variable.states]
            if isinstance(hard, str)
            else [float(found[name][state]) for state in variable.states]
        )
        parents = [parent.name for parent in opened.network.cpd(name).parents]
        variables.append(
            Variable(name=name, states=list(variable.states), parents=parents, posterior=shares)
        )
    log = found.log_evidence if evidence else 0.0
    return Queried(
        title=opened.title,
        variables=variables,
        log_probability=log,
        words=_probability(log) if evidence else "",
        drawn=len(variables) <= MOST_DRAWN,
    )


def picture_of(question: PictureQuestion) -> Picture:
    """Return a picture of the network with its distributions, as SVG."""
    from bnmind.views import belief_view, side_by_side

    opened = opened_network(question.model)
    view = belief_view(opened.network, _posterior(opened, question), evidence=question.evidence)
    most = max(2, *(variable.n_states for variable in opened.network.variables))
    if question.compare is None:
        svg = view.svg(max_states=most)
    else:
        other = NetworkQuestion(model=question.model, evidence=question.compare)
        first = belief_view(opened.network, _posterior(opened, other), evidence=other.evidence)
        svg = side_by_side(first, view, titles=("compared", "now")).svg(max_states=most)
    # The policy of the pages allows no inline styles.
    return Picture(svg=svg.replace(' style="font-variant-numeric:tabular-nums"', ""))


def ranking_of(question: RankQuestion) -> Ranked:
    """Return what to observe next, by its information about the variables of interest."""
    from bnmind.questions import rank_questions

    opened = opened_network(question.model)
    with opened.lock, _said_plainly():
        ranking = rank_questions(
            opened.engine, about=question.about, evidence=dict(question.evidence)
        )
    rows = [RankedQuestion.model_validate(row) for row in ranking]
    return Ranked(about=list(ranking.about), entropy=ranking.entropy, rows=rows)


def explanation(question: NetworkQuestion) -> Explained:
    """Return the most probable states of all variables together, given the evidence."""
    from bnmind.lab.mastermind import words

    opened = opened_network(question.model)
    with opened.lock, _said_plainly():
        found = opened.engine.mpe(dict(question.evidence))
        log = opened.engine.log_probability(dict(question.evidence)) if question.evidence else 0.0
    share = math.exp(found.log_probability - log)
    return Explained(
        states=dict(found.states),
        log_probability=found.log_probability,
        probability_given_evidence=share,
        words=f"Given the evidence, these states together have the probability"
        f" {words.percent(min(1.0, share))}.",
    )


def _posterior(opened: Opened, question: NetworkQuestion) -> Posterior:
    names = [
        variable.name
        for variable in opened.network.variables
        if not isinstance(question.evidence.get(variable.name), str)
    ]
    with opened.lock, _said_plainly():
        return opened.engine.posterior(names, dict(question.evidence))


@contextmanager
def _said_plainly() -> Iterator[None]:
    """Let an error about contradictory evidence name the findings in a sentence."""
    try:
        yield
    except ImpossibleEvidenceError as fault:
        raise ImpossibleEvidenceError(_contradiction(fault.evidence), fault.evidence) from fault


def _contradiction(findings: Mapping[str, object]) -> str:
    """Return which findings contradict each other.

    >>> _contradiction({"tub": "yes", "either": "no"})
    'these findings contradict each other: tub = yes, either = no'
    >>> _contradiction({"smoke": "maybe"})
    'the finding smoke = maybe is impossible'
    """
    named = [
        f"{name} = {finding}" if isinstance(finding, str) else f"{name} (uncertain)"
        for name, finding in findings.items()
    ]
    if len(named) == 1:
        return f"the finding {named[0]} is impossible"
    return f"these findings contradict each other: {', '.join(named)}"


def _probability(log: float) -> str:
    """Return a probability in words.

    >>> _probability(math.log(0.25)), _probability(-30.0)
    ('The evidence has the probability 25 %.', 'The evidence has the probability 9.4e-14.')
    """
    from bnmind.lab.mastermind import words

    p = math.exp(log)
    return f"The evidence has the probability {words.percent(p) if p >= 0.001 else f'{p:.1e}'}."


_SIDES = (1, 3, 14)
"""Networks of which each is answered in another way; the last one's triangulation takes long."""

_TIMES = 5
"""The first few questions are answered without compiled code; see `bnmind._jit.PlainWork`."""


_PLANS = 10**12
"""More work than plans do before circuits answer: a server loads these at once."""


def first_questions() -> Iterator[NetworkQuestion]:
    """Return questions about grids; answered in this order, they load compiled code."""
    from bnmind.junction.circuit import plain_plans

    plain_plans.spend(_PLANS)
    for side in _SIDES:
        model = Model(name=None, file="grid.uai", text=_grid(side))
        for number in range(_TIMES):
            seen = f"x{number * side**2 // _TIMES}"
            yield NetworkQuestion(model=model, evidence={seen: {"0": 1.0, "1": 2.0}})


def _grid(side: int) -> str:
    """Return a square of binary variables, with arcs to the right and down, as a UAI file."""
    parents = [[i - side] * (i >= side) + [i - 1] * (i % side > 0) for i in range(side * side)]
    scopes = [" ".join(map(str, (len(of) + 1, *of, i))) for i, of in enumerate(parents)]
    tables = [f"{2 ** (len(of) + 1)} {'.4 .6 ' * 2 ** len(of)}" for of in parents]
    head = f"BAYES\n{side * side}\n{'2 ' * side**2}\n{side * side}"
    return "\n".join((head, *scopes, *tables)) + "\n"


# --- Addresses ------------------------------------------------------------------------------------

_LONG = 5000
"""Files with more letters are heavy work from the start."""

router = APIRouter(prefix="/api/network", tags=["Bayesian networks"])


@router.get("/models", summary="The networks that need no file")
async def models() -> dict[str, str]:
    """Return the names of networks, and what each of them is."""
    return dict(SHIPPED)


@router.post("/query", summary="The distribution of every variable, given evidence")
async def query(question: NetworkQuestion, request: Request) -> Queried:
    """Return the posterior of every variable, and the probability of the evidence.

    Evidence that contradicts itself is refused, and the error names the findings.
    """
    return await _run(request, question, partial(posterior, question))


@router.post("/picture", summary="A picture of the network, as SVG")
async def picture(question: PictureQuestion, request: Request) -> Picture:
    """Return the network with the distribution of every variable, or with two to compare."""
    return await _run(request, question, partial(picture_of, question))


@router.post("/rank", summary="What to observe next")
async def rank(question: RankQuestion, request: Request) -> Ranked:
    """Return the variables by the information that they should give about some others."""
    return await _run(request, question, partial(ranking_of, question))


@router.post("/explain", summary="The most probable explanation")
async def explain(question: NetworkQuestion, request: Request) -> Explained:
    """Return the most probable states of all variables together."""
    return await _run(request, question, partial(explanation, question))


async def _run(request: Request, question: NetworkQuestion, work: Callable[[], _T]) -> _T:
    is_long = len(question.model.text or "") > _LONG
    turn = Turn.HEAVY if is_long else Turn.QUICK
    return await work_of(request).run(request, work, needs=NETWORKS, turn=turn)
