"""``bnmind ask``: a dialogue about a network, which asks for the most informative observation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._display import Table
from bnmind._files import check_writable
from bnmind._messages import counted, percent
from bnmind._registry import made_by_name
from bnmind.cli.networks import Evidence, Targets, evidence_of, names_of
from bnmind.cli.shared.command import Json, ModelFile, OneOf, is_saved, show_parts
from bnmind.cli.shared.dialogue import Command, ask_end, converse
from bnmind.cli.shared.dialogue import ask as prompt
from bnmind.cli.shared.terminal import INTERRUPTED, interruptible, tell, tell_json, working
from bnmind.errors import BnmindError, SessionFileError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.questions import DiagnosisMarks, Dialogue, DialogueStopper, Doubts, Inquiry


_DEFAULTS = {"--score": "information", "--measure": "joint"}
_RENAMED = {"--given": "--evidence"}
"""Options that had another name in dialogues saved before."""

_COMMANDS = (Command.UNDO, Command.HINT, Command.DOUBT, Command.HELP, Command.QUIT)

_KEYS = (
    "Type each answer; s skips, u undoes, ? says why this question, d shows doubtful answers,"
    " h helps, q quits."
)

_HELP = (
    "An answer is one of the states in brackets. VARIABLE=STATE answers another question or changes"
    " an answer; ?VARIABLE says what another question would tell."
)


_MOST_TARGETS = 6
"""The most targets that are shown."""

_MOST_STATES = 4
"""The most states of a target that are shown, the most probable ones."""

_OTHERS = 3
"""The most other questions that an explanation names."""

_SURPRISING = 0.1
"""A report names an answer if one at least as surprising is less probable than this."""


@dataclass(frozen=True)
class AskOptions:
    """The options of the command.

    Parameters
    ----------
    model
        The file that holds the network.
    about
        The targets. Repeat the option for more.
    among
        The variables that can be observed. [default: all others]
    costs
        The costs: a CSV file with the columns question, cost.
    score
        How to rank questions, from the list below. [default: information]
    measure
        How to measure several targets, from the list below. [default: joint]
    stop
        When to stop, from the list below. Repeat the option to stop when any does.
    session
        The file of the saved dialogue.
    rank
        Print the ranking of the questions, and ask nothing.
    """

    model: ModelFile
    _: KW_ONLY
    about: Targets = ()
    among: Targets = ()
    evidence: Evidence = ()
    given: Annotated[Sequence[str], typer.Option(help="The evidence, too.", hidden=True)] = ()
    costs: Path | None = None
    score: Annotated[
        str | None, "NAME[:ARG]", OneOf("bnmind.questions:QUESTION_SCORES", "Scores")
    ] = None
    measure: Annotated[
        str | None, OneOf("bnmind.questions:TARGET_MEASURES", "Measures of several targets")
    ] = None
    stop: Annotated[
        Sequence[str], "NAME:NUMBER", OneOf("bnmind.questions:DIALOGUE_STOPPERS", "Stoppers")
    ] = ()
    session: Path | None = None
    rank: bool = False
    as_json: Json = False


@dataclass(kw_only=True)
class _Talk:
    """A dialogue on the terminal, and its file."""

    dialogue: Dialogue
    stoppers: tuple[DialogueStopper, ...]
    options: Mapping[str, str]
    path: Path | None
    text: str | None
    """The content of the file when it was last read or written; None if there is none."""

    question: str = ""
    """The question that is asked."""

    def go_on(self, dialogue: Dialogue) -> None:
        """Save another state of the dialogue, and go on with it."""
        from bnmind.questions import write_dialogue

        if self.path is not None:
            self.text = write_dialogue(self.path, dialogue, options=self.options, before=self.text)
        self.dialogue = dialogue

    def ask(self) -> _Given | Command:
        """Return what the user enters."""
        dialogue = self.dialogue
        reason = working("choosing a question", lambda _: dialogue.stop_reason(self.stoppers))
        if reason:
            tell(f"\nThe dialogue is over: {reason}.")
            return ask_end("u", "d")
        question = self.question = interruptible(dialogue.next_question)
        model = dialogue.inquiry.engine.model
        states = model.variable(question).states
        tell(f"\n{len(dialogue.state.asked) + 1}. {question}")

        def read(text: str) -> _Given:
            if text in states:
                return _Given(question, text)
            if text.lower() in ("s", "skip"):
                return _Given(question)
            if why := re.match(r"\?|why\s", text, re.IGNORECASE):
                name = text[why.end() :].strip()
                model.variable(name)
                return _Given(name, why=True)
            return _typed(text, question, {v.name: v.states for v in model.variables})

        # A state may be called like a command: then it is an answer.
        commands = {one.value: one for one in _COMMANDS if one.value not in states}
        return prompt(f"Answer [{'/'.join(states)}]: ", read, commands=commands)

    def act(self, entry: _Given | Command) -> bool:
        """Do what the user enters; return whether the dialogue goes on."""
        if entry is Command.QUIT:
            return False
        if entry is Command.HELP:
            tell(f"  {_KEYS} {_HELP}")
        elif entry is Command.DOUBT:
            show_parts(_doubts_shown(working("computing", lambda _: self.dialogue.doubts)))
        elif entry is Command.HINT:
            show_parts(_why_shown(self.dialogue, self.question))
        elif isinstance(entry, _Given) and entry.why:
            show_parts(_why_shown(self.dialogue, entry.question))
        else:
            self.go_on(_after(self.dialogue, entry))
            if entry is Command.UNDO:
                tell("  undone")
            show_parts(_belief_shown(self.dialogue))
        return True


@dataclass(frozen=True)
class _Given:
    """An answer as it was typed; None as answer skips, and ``why`` asks for reasons."""

    question: str
    answer: str | None = None
    why: bool = False


def ask(options: AskOptions) -> None:
    """Ask for the most informative observations about some variables.

    Type the answer to the question shown; VARIABLE=STATE answers another question, or changes
    an answer. s skips the question, u undoes the last step, ? says why this question
    (?VARIABLE: why another), d shows which answers to doubt, h helps, and q quits; the words
    skip, undo, why, doubts, help and quit do the same. With --session, the command saves every
    answer; run it again to resume. The targets and the observations that a file of GeNIe marks
    for diagnosis are the defaults of --about and --among.

    Examples
    --------
    bnmind ask models/diagnosis/asia.xdsl --about lung --stop certainty:0.95
    bnmind ask models/diagnosis/asia.xdsl --evidence smoke=yes --session ann.json
    bnmind ask models/diagnosis/asia.xdsl --about lung,bronc --evidence dysp=yes --rank
    bnmind ask models/diagnosis/asia.xdsl --costs models/diagnosis/asia-costs.csv --score per-cost
    """
    from bnmind.questions import (
        Dialogue,
        dialogue_stoppers_by_names,
        read_dialogue,
        resumed_dialogue,
    )

    if options.as_json and not options.rank:
        raise BnmindError("--json needs --rank: a dialogue is not printed as JSON")
    if options.session is not None and not options.rank:
        check_writable(options.session)
    saved = None
    if options.session is not None and is_saved(options.session):
        saved = read_dialogue(options.session)
    texts = _texts(options, None if saved is None else saved.options)
    stoppers = dialogue_stoppers_by_names(_list(texts, "--stop"))
    inquiry = _inquiry(options, texts)
    dialogue = (
        Dialogue(inquiry)
        if saved is None
        else resumed_dialogue(saved, inquiry, path=options.session or "")
    )
    if options.rank:
        ranking = working("ranking the questions", lambda _: dialogue.ranking)
        if options.as_json:
            tell_json(_as_json(dialogue))
        else:
            tell(repr(ranking))
        return
    talk = _Talk(
        dialogue=dialogue,
        stoppers=stoppers,
        options=texts,
        path=options.session,
        text=None if saved is None else saved.text,
    )
    if saved is None:
        working("choosing a question", lambda _: dialogue.ranking)
        talk.go_on(dialogue)
    n_variables = len(inquiry.engine.model.variables)
    tell(
        f"{options.model.path.name}: {counted(n_variables, 'variable')},"
        f" {counted(len(inquiry.about), 'target')}, {counted(len(inquiry.among), 'question')}."
        + (f" Resumed after {counted(len(dialogue.state.asked), 'question')}." if saved else "")
    )
    tell(_KEYS)
    if options.session is None:
        tell("Nothing is saved; --session FILE would save each answer.")
    else:
        tell(f"Each answer is saved in {options.session}; the same command resumes the dialogue.")
    show_parts(_belief_shown(dialogue))
    interrupted = converse(talk.ask, talk.act, fatal=SessionFileError)
    show_parts(_report_shown(talk.dialogue))
    if talk.path is not None and not talk.dialogue.stop_reason(talk.stoppers):
        tell(f"Saved in {talk.path}; the same command resumes the dialogue.")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _as_json(dialogue: Dialogue) -> dict[str, object]:
    return {
        "about": list(dialogue.inquiry.about),
        "entropy": dialogue.entropy,
        "questions": [
            {
                "question": row.question,
                "information": row.information,
                "expected_entropy": row.expected_entropy,
                "cost": row.cost,
                "score": row.score,
                "predicted": dict(row.predicted),
            }
            for row in dialogue.ranking
        ],
    }


def _after(dialogue: Dialogue, entry: _Given | Command) -> Dialogue:
    """Return the dialogue after an answer, a skip or an undo."""
    from datetime import datetime

    at = datetime.now().isoformat(timespec="seconds")
    if not isinstance(entry, _Given):
        return interruptible(lambda: dialogue.undo(at=at))[0]
    if entry.answer is None:
        return interruptible(lambda: dialogue.skip(entry.question, at=at))[0]
    step = dialogue.change if entry.question in dialogue.state.answers else dialogue.answer
    return interruptible(lambda: step(entry.question, entry.answer, at=at))[0]


def _typed(text: str, question: str, states: Mapping[str, Sequence[str]]) -> _Given:
    """Return the answer that a text means: VARIABLE=STATE, or a state of the question."""
    for place, sign in enumerate(text):
        name, state = text[:place].strip(), text[place + 1 :].strip()
        if sign == "=" and state in states.get(name, ()):
            return _Given(name, state)
    if "=" in text:
        name, _, state = (part.strip() for part in text.rpartition("="))
        if name not in states:
            raise UnknownNameError("variable", name, states)
        raise UnknownNameError(f"state of {name}", state, states[name])
    raise UnknownNameError(f"state of {question}", text, states[question])


# --- The inquiry: options of the command, or of a saved dialogue ----------------------------------


def _inquiry(options: AskOptions, texts: Mapping[str, str]) -> Inquiry:
    """Return what is asked about which network, and how."""
    from bnmind.pgm.files import read
    from bnmind.questions import QUESTION_SCORES, TARGET_MEASURES, Inquiry, read_costs

    score = made_by_name("score", QUESTION_SCORES, _first(texts, "--score"))
    measure = made_by_name("measure", TARGET_MEASURES, _first(texts, "--measure"))
    costs = {
        name: cost for path in _list(texts, "--costs") for name, cost in read_costs(path).items()
    }
    network = options.model.read(read)
    states = {v.name: v.states for v in network.variables}
    marks = _marks(options.model.path)
    about = tuple(names_of(_list(texts, "--about"), states.keys()))
    among = tuple(names_of(_list(texts, "--among"), states.keys()))
    evidence = evidence_of(_list(texts, "--evidence"), states)
    if marks is not None:
        about = about or tuple(name for name in marks.targets if name not in evidence)
        among = among or tuple(name for name in marks.observations if name not in about)
    if not about:
        raise BnmindError("name the targets of the questions with --about, such as --about fault")
    return working(
        "planning",
        lambda _: Inquiry.of(
            network,
            about=about,
            among=among or None,
            evidence=evidence,
            costs=costs,
            measure=measure,
            score=score,
        ),
    )


def _texts(options: AskOptions, saved: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return the options that were given, each as a JSON list of texts; or those of a dialogue.

    Raises
    ------
    BnmindError
        If an option contradicts the saved dialogue.
    """
    lists = {
        "--about": options.about,
        "--among": options.among,
        "--evidence": [*options.evidence, *options.given],
        "--costs": None if options.costs is None else [str(options.costs)],
        "--score": None if options.score is None else [options.score],
        "--measure": None if options.measure is None else [options.measure],
        "--stop": options.stop,
    }
    texts = {name: json.dumps(texts) for name, texts in lists.items() if texts}
    if saved is None:
        return texts
    saved = {_RENAMED.get(name, name): text for name, text in saved.items()}
    for name in texts:
        if _list(saved, name) != _list(texts, name):
            raise BnmindError(
                f"the dialogue saved in {options.session} began {_readable(saved, name)}, not"
                f" {_readable(texts, name)}; repeat its options, or name another file with"
                " --session"
            )
    return saved


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


def _first(texts: Mapping[str, str], name: str) -> str:
    return next(iter(_list(texts, name)), _DEFAULTS[name])


def _readable(texts: Mapping[str, str], name: str) -> str:
    values = _list(texts, name)
    return f"with {name} {' '.join(values)}" if values else f"without {name}"


def _marks(path: Path) -> DiagnosisMarks | None:
    """Return the marks for diagnosis in a file of GeNIe; None for other files."""
    from bnmind.questions import read_diagnosis

    if Path(path.name.removesuffix(".gz")).suffix.lower() != ".xdsl":
        return None
    return read_diagnosis(path)


# --- What is shown --------------------------------------------------------------------------------


def _belief_shown(dialogue: Dialogue) -> Iterator[str]:
    """Yield the distribution of each target, and how much is unknown."""
    belief = interruptible(lambda: dialogue.belief)
    for name in list(belief)[:_MOST_TARGETS]:
        yield f"  {name}: {_states(belief[name])}"
    if len(belief) > _MOST_TARGETS:
        yield f"  … and {counted(len(belief) - _MOST_TARGETS, 'more target')}"
    bits = working("choosing a question", lambda _: dialogue.entropy)
    yield f"  {bits:.2f} bits unknown"


def _states(chances: Mapping[str, float]) -> str:
    """Return the most probable states of a target."""
    states = list(chances)
    if len(states) > _MOST_STATES:
        states = sorted(states, key=lambda state: -chances[state])[: _MOST_STATES - 1]
    more = ", …" if len(states) < len(chances) else ""
    return ", ".join(f"{state} {percent(chances[state])}" for state in states) + more


def _most_probable(chances: Mapping[str, float]) -> tuple[str, str]:
    """Return the most probable state of a target, and its probability in percent."""
    state = max(chances, key=lambda name: chances[name])
    return state, percent(chances[state])


def _why_shown(dialogue: Dialogue, question: str) -> Iterator[str | Table]:
    """Yield what a question tells, and the belief after each answer."""
    effect = working("computing", lambda _: dialogue.why(question))
    yield (
        f"  {question} should tell {effect.information:.3f} of {effect.entropy:.3f} bits and leave"
        f" {effect.expected_entropy:.3f}."
    )
    targets = list(dialogue.inquiry.about)[:_MOST_TARGETS]
    rows = [
        [one.answer, percent(one.probability), f"{one.entropy:.3f}"]
        + [" ".join(_most_probable(one.targets[name])) for name in targets]
        for one in effect.answers
    ]
    yield Table(("answer", "probability", "bits left", *targets), rows)
    others = [row for row in dialogue.ranking if row.question != question][:_OTHERS]
    if others:
        listed = ", ".join(f"{row.question} {row.information:.3f}" for row in others)
        yield f"  Other questions: {listed}."


def _doubts_shown(doubts: Doubts) -> Iterator[str | Table]:
    """Yield how well each answer fits the others."""
    if not doubts.answers:
        yield "  There are no answers to doubt yet."
        return
    doubted = doubts.most_doubtful
    rows = [
        (
            one.question,
            one.answer,
            percent(one.alone),
            percent(one.probability),
            f"{one.conflict:+.2f}",
            percent(one.p_value),
        )
        for one in doubts.answers
    ]
    yield Table(
        ("question", "answer", "alone", "given the others", "conflict", "as surprising or more"),
        rows,
        bold=[number for number, one in enumerate(doubts.answers) if one is doubted],
    )
    support = ", so they support each other." if doubts.conflict < 0 else "."
    yield f"  The conflict of all answers is {doubts.conflict:+.2f} bits{support}"
    if doubted is None:
        yield "  No answer is in conflict with the others."
        return
    given = f"{doubted.question}={doubted.answer}"
    yield f"  In most conflict with the others: {given}. Without it:"
    for name in list(doubted.without)[:_MOST_TARGETS]:
        yield f"    {name}: {_states(doubted.without[name])}"


def _report_shown(dialogue: Dialogue) -> Iterator[str | Table]:
    """Yield the answers and the belief at the end."""
    state = dialogue.state
    skipped = f", {len(state.skipped)} skipped" if state.skipped else ""
    cost = f", cost {dialogue.cost:g}" if dialogue.cost else ""
    asked = f"{counted(len(state.asked), 'question')} asked{skipped}{cost}"
    yield f"\n{asked}; {dialogue.entropy:.2f} bits unknown."
    doubted = interruptible(lambda: dialogue.doubts).most_doubtful
    if doubted is not None and doubted.p_value < _SURPRISING:
        yield (
            f"Most doubtful answer: {doubted.question}={doubted.answer}, with a probability of"
            f" {percent(doubted.probability)} given the others."
        )
    rows = [(name, *_most_probable(dialogue.belief[name])) for name in dialogue.inquiry.about]
    yield Table(("target", "state", "probability"), rows)
