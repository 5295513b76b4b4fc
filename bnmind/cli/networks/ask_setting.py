"""The setting of ``bnmind ask``: the options of the command, of a file, or of a saved dialogue."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._registry import made_by_name
from bnmind.cli.shared.models import model_from
from bnmind.cli.shared.named_states import evidence_of, names_of
from bnmind.cli.shared.options import DropDecisions, Json, Normalize
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.pgm import FactorModel, Network
    from bnmind.questions import DiagnosisMarks, DialogueStopper, QuestionScore, TargetMeasure

__all__ = ["AskOptions", "Setting", "setting_of"]

DEFAULT_SCORE, DEFAULT_MEASURE = "information", "joint"
_RENAMED = {"--given": "--evidence"}
"""Options that had another name in dialogues saved before."""


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """The options of the command."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The file that holds the network.")]
    about: Annotated[
        list[str] | None,
        typer.Option("--about", metavar="A,B", help="The targets. Repeat the option for more."),
    ] = None
    among: Annotated[
        list[str] | None,
        typer.Option(
            "--among",
            metavar="A,B",
            help="The variables that can be observed. [default: all others]",
            show_default=False,
        ),
    ] = None
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            "--evidence",
            metavar="A=x,B=y",
            help="The evidence: states that are known already. Repeat the option for more.",
        ),
    ] = None
    given: Annotated[
        list[str] | None, typer.Option("--given", help="The evidence, too.", hidden=True)
    ] = None
    costs: Annotated[
        Path | None,
        typer.Option(
            "--costs", metavar="FILE", help="The costs: a CSV file with the columns question, cost."
        ),
    ] = None
    score: Annotated[
        str | None,
        typer.Option(
            "--score",
            metavar="NAME[:ARG]",
            help="How to rank questions, from the list below. [default: information]",
            show_default=False,
        ),
    ] = None
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="How to measure several targets, from the list below. [default: joint]",
            show_default=False,
        ),
    ] = None
    stop: Annotated[
        list[str] | None,
        typer.Option(
            "--stop",
            metavar="NAME:NUMBER",
            help="When to stop, from the list below. Repeat the option to stop when any does.",
        ),
    ] = None
    session: Annotated[
        Path | None,
        typer.Option("--session", metavar="FILE", help="The file of the saved dialogue."),
    ] = None
    rank: Annotated[
        bool, typer.Option("--rank", help="Print the ranking of the questions, and ask nothing.")
    ] = False
    normalize: Normalize = False
    drop_decisions: DropDecisions = False
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class Setting:
    """All that a dialogue needs."""

    network: Network | FactorModel
    about: tuple[str, ...]
    among: tuple[str, ...] | None
    evidence: Mapping[str, str]
    costs: Mapping[str, float]
    score: QuestionScore
    measure: TargetMeasure
    stoppers: tuple[DialogueStopper, ...]
    texts: Mapping[str, str]
    """The options as text, to be saved with the dialogue."""


def setting_of(options: AskOptions, saved: Mapping[str, str] | None) -> Setting:
    """Return the setting of options, or of a saved dialogue, which they must not contradict."""
    from bnmind.pgm.files import read
    from bnmind.questions import (
        QUESTION_SCORES,
        TARGET_MEASURES,
        dialogue_stoppers_by_names,
        read_costs,
    )

    texts = _texts(options)
    if saved is not None:
        saved = {_RENAMED.get(name, name): text for name, text in saved.items()}
        for name in texts:
            if _list(saved, name) != _list(texts, name):
                raise BnmindError(
                    f"the dialogue saved in {options.session} began {_readable(saved, name)}, not"
                    f" {_readable(texts, name)}; repeat its options, or name another file with"
                    " --session"
                )
        texts = saved
    score = made_by_name("score", QUESTION_SCORES, _first(texts, "--score", DEFAULT_SCORE))
    measure = made_by_name("measure", TARGET_MEASURES, _first(texts, "--measure", DEFAULT_MEASURE))
    stoppers = dialogue_stoppers_by_names(_list(texts, "--stop"))
    costs = {
        name: cost for path in _list(texts, "--costs") for name, cost in read_costs(path).items()
    }
    network = model_from(
        options.model, read, normalize=options.normalize, drop_decisions=options.drop_decisions
    )
    states = {v.name: v.states for v in network.variables}
    marks = _marks(options.model)
    about = tuple(names_of(_list(texts, "--about"), states.keys()))
    among = tuple(names_of(_list(texts, "--among"), states.keys()))
    evidence = evidence_of(_list(texts, "--evidence"), states)
    if marks is not None:
        about = about or tuple(name for name in marks.targets if name not in evidence)
        among = among or tuple(name for name in marks.observations if name not in about)
    if not about:
        raise BnmindError("name the targets of the questions with --about, such as --about fault")
    return Setting(
        network=network,
        about=about,
        among=among or None,
        evidence=evidence,
        costs=costs,
        score=score,
        measure=measure,
        stoppers=stoppers,
        texts=texts,
    )


def _texts(options: AskOptions) -> dict[str, str]:
    """Return the options that were given, each as a JSON list of texts."""
    lists = {
        "--about": options.about,
        "--among": options.among,
        "--evidence": [*(options.evidence or ()), *(options.given or ())],
        "--costs": None if options.costs is None else [str(options.costs)],
        "--score": None if options.score is None else [options.score],
        "--measure": None if options.measure is None else [options.measure],
        "--stop": options.stop,
    }
    return {name: json.dumps(texts) for name, texts in lists.items() if texts}


def _list(texts: Mapping[str, str], name: str) -> Sequence[str]:
    if name not in texts:
        return ()
    try:
        found = json.loads(texts[name])
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise BnmindError(f"the saved dialogue has an option {name} that cannot be read")
    return found


def _first(texts: Mapping[str, str], name: str, default: str) -> str:
    return next(iter(_list(texts, name)), default)


def _readable(texts: Mapping[str, str], name: str) -> str:
    values = _list(texts, name)
    return f"with {name} {' '.join(values)}" if values else f"without {name}"


def _marks(path: Path) -> DiagnosisMarks | None:
    """Return the marks for diagnosis in a file of GeNIe; None for other files."""
    from bnmind.questions import read_diagnosis

    if Path(path.name.removesuffix(".gz")).suffix.lower() != ".xdsl":
        return None
    return read_diagnosis(path)
