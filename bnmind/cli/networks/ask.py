"""``bnmind ask``: a dialogue about a network, which asks for the most informative observation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bnmind._files import check_writable
from bnmind._messages import shown
from bnmind.cli.networks.ask_setting import AskOptions, setting_of
from bnmind.cli.shared.command import with_options
from bnmind.cli.shared.errors import INTERRUPTED, one_line
from bnmind.cli.shared.members import Described, command_with_members
from bnmind.cli.shared.places import is_saved
from bnmind.cli.shared.printable import printable, tell, tell_json
from bnmind.cli.shared.prompt import Command, ask
from bnmind.cli.shared.work import interruptible, working
from bnmind.errors import BnmindError, SessionFileError

if TYPE_CHECKING:
    from rich.console import Console

    from bnmind.questions import Dialogue, DialogueStopper

__all__ = ["ASK_HELP", "AskCommand", "ask_about"]

ASK_HELP = """Ask for the most informative observations about some variables.

Type the answer to the question shown; VARIABLE=STATE answers another question, or changes an
answer. s skips the question, u undoes the last step, ? says why this question (?VARIABLE: why
another), d shows which answers to doubt, h helps, and q quits; the words skip, undo, why, doubts,
help and quit do the same. With --session, the command saves every answer; run it again to resume.
The targets and the observations that a file of GeNIe marks for diagnosis are the defaults of
--about and --among.

\b
Examples:
  bnmind ask models/diagnosis/asia.xdsl --about lung --stop certainty:0.95
  bnmind ask models/diagnosis/asia.xdsl --evidence smoke=yes --session ann.json
  bnmind ask models/diagnosis/asia.xdsl --about lung,bronc --evidence dysp=yes --rank
  bnmind ask models/diagnosis/asia.xdsl --costs models/diagnosis/asia-costs.csv --score per-cost
"""

_COMMANDS = {
    "u": Command.UNDO,
    "?": Command.HINT,
    "d": Command.DOUBT,
    "h": Command.HELP,
    "q": Command.QUIT,
}

_KEYS = (
    "Type each answer; s skips, u undoes, ? says why this question, d shows doubtful answers,"
    " h helps, q quits."
)

_HELP = (
    "An answer is one of the states in brackets. VARIABLE=STATE answers another question or changes"
    " an answer; ?VARIABLE says what another question would tell."
)


def _scores() -> Mapping[str, Described]:
    from bnmind.questions import QUESTION_SCORES

    return QUESTION_SCORES


def _measures() -> Mapping[str, Described]:
    from bnmind.questions import TARGET_MEASURES

    return TARGET_MEASURES


def _stoppers() -> Mapping[str, Described]:
    from bnmind.questions import DIALOGUE_STOPPERS

    return DIALOGUE_STOPPERS


AskCommand = command_with_members(
    Scores=_scores, Measures_of_several_targets=_measures, Stoppers=_stoppers
)
"""A command whose help lists the scores, the measures and the stoppers."""


@dataclass(frozen=True, kw_only=True)
class _Talk:
    """A dialogue on the terminal, and its file."""

    console: Console
    dialogue: Dialogue
    stoppers: tuple[DialogueStopper, ...]
    options: Mapping[str, str]
    path: Path | None
    text: str | None
    """The content of the file when it was last read or written; None if there is none."""

    def after(self, dialogue: Dialogue) -> _Talk:
        """Return the talk with another state of the dialogue, saved."""
        from bnmind.questions import write_dialogue

        text = self.text
        if self.path is not None:
            text = write_dialogue(self.path, dialogue, options=self.options, before=self.text)
        return replace(self, dialogue=dialogue, text=text)


@dataclass(frozen=True)
class _Given:
    """An answer as it was typed; None as answer skips, and ``why`` asks for reasons."""

    question: str
    answer: str | None = None
    why: bool = False


@with_options(AskOptions)
def ask_about(options: AskOptions) -> None:
    """Ask questions about a network, or rank them."""
    from bnmind.cli.networks.ask_text import show_belief
    from bnmind.cli.shared.show import counted, terminal
    from bnmind.questions import Dialogue, Inquiry, read_dialogue, resumed_dialogue

    if options.as_json and not options.rank:
        raise BnmindError("--json needs --rank: a dialogue is not printed as JSON")
    if options.session is not None and not options.rank:
        check_writable(options.session)
    saved = None
    if options.session is not None and is_saved(options.session):
        saved = read_dialogue(options.session)
    setting = setting_of(options, None if saved is None else saved.options)
    network = setting.network
    inquiry = working(
        "planning",
        lambda _: Inquiry.of(
            network,
            about=setting.about,
            among=setting.among,
            evidence=setting.evidence,
            costs=setting.costs,
            measure=setting.measure,
            score=setting.score,
        ),
    )
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
    console = terminal()
    talk = _Talk(
        console=console,
        dialogue=dialogue,
        stoppers=setting.stoppers,
        options=setting.texts,
        path=options.session,
        text=None if saved is None else saved.text,
    )
    if saved is None:
        working("choosing a question", lambda _: dialogue.ranking)
        talk = talk.after(dialogue)
    console.print(
        f"{printable(options.model.name)}: {counted(len(network.variables), 'variable')},"
        f" {counted(len(inquiry.about), 'target')}, {counted(len(inquiry.among), 'question')}."
        + (f" Resumed after {counted(len(dialogue.state.asked), 'question')}." if saved else ""),
        soft_wrap=True,
    )
    console.print(_KEYS, soft_wrap=True)
    if options.session is None:
        console.print("Nothing is saved; --session FILE would save each answer.", soft_wrap=True)
    else:
        console.print(
            f"Each answer is saved in {options.session}; the same command resumes the dialogue.",
            soft_wrap=True,
        )
    show_belief(console, dialogue)
    _converse(talk)


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


def _converse(talk: _Talk) -> None:
    """Go from question to answer until the dialogue is over or the user leaves."""
    from bnmind.cli.networks.ask_text import show_report

    going: _Talk | None = talk
    interrupted = False
    while going is not None:
        talk = going
        try:
            going = _step(talk)
        except KeyboardInterrupt:
            talk.console.print()
            interrupted, going = True, None
    show_report(talk.console, talk.dialogue)
    if talk.path is not None and not talk.dialogue.stop_reason(talk.stoppers):
        talk.console.print(f"Saved in {talk.path}; the same command resumes the dialogue.")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _step(talk: _Talk) -> _Talk | None:
    """Return the talk after one more entry of the user; None if that ends it."""
    from bnmind.cli.networks.ask_text import show_belief, show_doubts, show_why

    console, dialogue = talk.console, talk.dialogue
    reason = working("choosing a question", lambda _: dialogue.stop_reason(talk.stoppers))
    question = "" if reason else interruptible(dialogue.next_question)
    if reason:
        console.print(f"\nThe dialogue is over: {reason}.")
        entry: _Given | Command = ask(
            console, "Enter ends, u undoes, d shows doubtful answers: ", _end, commands=_AT_END
        )
    else:
        entry = _ask_answer(talk, question)
    if entry is Command.QUIT:
        return None
    try:
        if entry is Command.HELP:
            console.print(f"  {_KEYS} {_HELP}", soft_wrap=True)
        elif entry is Command.DOUBT:
            show_doubts(console, working("computing", lambda _: dialogue.doubts))
        elif entry is Command.HINT:
            show_why(console, dialogue, question)
        elif isinstance(entry, _Given) and entry.why:
            show_why(console, dialogue, entry.question)
        else:
            talk = talk.after(_after(dialogue, entry))
            if entry is Command.UNDO:
                console.print("  undone")
            show_belief(console, talk.dialogue)
    except SessionFileError:
        raise  # nothing that is typed from here on could be saved
    except BnmindError as fault:
        console.print(f"  {one_line(fault)}", soft_wrap=True)
    return talk


_AT_END = {letter: _COMMANDS[letter] for letter in ("u", "d")}


def _end(text: str) -> Command:
    if text and text.lower() != "q":
        raise BnmindError(f"expected Enter, u or d, got {shown(text)}")
    return Command.QUIT


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


def _ask_answer(talk: _Talk, question: str) -> _Given | Command:
    """Return what the user answers to a question."""
    model = talk.dialogue.inquiry.engine.model
    states = model.variable(question).states
    number = len(talk.dialogue.state.asked) + 1
    talk.console.print(f"\n{number}. {question}", soft_wrap=True)

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
    commands = {letter: command for letter, command in _COMMANDS.items() if letter not in states}
    return ask(talk.console, f"Answer [{'/'.join(states)}]: ", read, commands=commands)


def _typed(text: str, question: str, states: Mapping[str, Sequence[str]]) -> _Given:
    """Return the answer that a text means: VARIABLE=STATE, or a state of the question."""
    for place, sign in enumerate(text):
        name, state = text[:place].strip(), text[place + 1 :].strip()
        if sign == "=" and state in states.get(name, ()):
            return _Given(name, state)
    from bnmind.errors import UnknownNameError

    if "=" in text:
        name, _, state = (part.strip() for part in text.rpartition("="))
        if name not in states:
            raise UnknownNameError("variable", name, states)
        raise UnknownNameError(f"state of {name}", state, states[name])
    raise UnknownNameError(f"state of {question}", text, states[question])
