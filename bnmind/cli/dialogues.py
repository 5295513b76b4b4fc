"""``bnmind test`` and ``bnmind ask``: dialogues that ask for the most informative answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bnmind import adaptive, questions
from bnmind._display import Table, parts_of
from bnmind._files import OvertakenError, check_writable
from bnmind._messages import counted, in_shell, percent
from bnmind._registry import made_by_name
from bnmind.cli.inputs import DEFAULT_SELECTOR, DesignOptions, SelectorName
from bnmind.cli.networks import Evidence, Targets, entries, evidence_of, names_of
from bnmind.cli.shared.command import Json, ModelFile, OneOf, Seed, is_saved, show_parts
from bnmind.cli.shared.dialogue import Command, ask_end, converse
from bnmind.cli.shared.dialogue import ask as prompt
from bnmind.cli.shared.terminal import INTERRUPTED, interruptible, tell, tell_record, working
from bnmind.errors import BnmindError, ModelFileError

if TYPE_CHECKING:
    from bnmind.questions.asked import DiagnosisMarks
    from bnmind.questions.dialogue import DialogueStopper
    from bnmind.questions.value import Doubts

# --- Answers, as they are typed -------------------------------------------------------------------


@dataclass(frozen=True)
class _Given:
    """An answer as it was typed; None as answer skips, and ``why`` asks for reasons."""

    name: str
    answer: str | None = None
    why: bool = False


def _answer(
    question: str,
    answers: Mapping[str, Sequence[str]],
    check: Callable[[str, str], object],
    *,
    commands: Sequence[Command],
    read: Callable[[str], _Given | None] = lambda _: None,
) -> _Given | Command:
    """Return what the user enters: an answer, ``NAME=ANSWER``, ``s`` to skip, or a command.

    Parameters
    ----------
    question
        What is asked.
    answers
        The answers to all questions. Names may contain ``=``, and blanks at their ends.
    check
        Raises if the second text is no answer to the first one.
    commands
        The commands. An answer may be called like one: then it is an answer.
    read
        Returns what a text means that only this dialogue knows, or None.
    """
    names = {name.strip(): name for name in answers}

    def given(text: str) -> _Given:
        if text in answers[question]:
            return _Given(question, text)
        if text.lower() in ("s", "skip"):
            return _Given(question)
        if (special := read(text)) is not None:
            return special
        pairs = [(question, text)]
        if "=" in text:
            pairs = [(names.get(name, name), word) for name, word in entries(text, len(text))]
        name, word = next((p for p in pairs if p[1] in answers.get(p[0], ())), pairs[-1])
        check(name, word)  # says what could have been answered
        return _Given(name, word)

    letters = {one.value: one for one in commands if one.value not in answers[question]}
    return prompt(f"Answer [{'/'.join(answers[question])}]: ", given, commands=letters)


def _after(dialogue: Any, entry: _Given | Command, answers: Mapping[str, object]) -> Any:
    """Return a session or a dialogue after an answer, a skip or an undo, with the time."""
    at = _now()
    if not isinstance(entry, _Given):
        return dialogue.undo(at=at)
    if entry.answer is None:
        return dialogue.skip(entry.name, at=at)
    step = dialogue.change if entry.name in answers else dialogue.answer
    return step(entry.name, entry.answer, at=at)


def _now() -> str:
    return datetime.now().isoformat(timespec="seconds")


# --- bnmind test ---------------------------------------------------------------------------------

PREPARING = "preparing the test"

_SHOWN = 5
"""Items that a hint ranks."""


def run_test(
    bank: Path,
    *,
    session: Path | None = None,
    selector: SelectorName | None = None,
    test: DesignOptions,
    salvage: bool = False,
    seed: Seed = None,
) -> None:
    """Run an adaptive test of one examinee with the items of a bank.

    Type the answer to the item shown; ITEM=ANSWER answers another item, or changes an answer. s
    skips the item, u undoes the last entry, ? explains the choice of the item, and q quits.
    With --session, the command saves every answer; run it again to resume the test.

    Without --stop, and without one in the design, the test ends when each skill is known with
    probability 0.95, when no item should tell more than 0.01 bits (if there is an ability, when its
    standard deviation is at most 0.3), or after 30 items.

    Parameters
    ----------
    bank
        The file of the item bank.
    session
        The file of the saved session.
    salvage
        Save the readable part of a damaged session as FILE.salvaged.

    Examples
    --------
    bnmind test models/banks/fractions.json
    bnmind test models/banks/fractions.json --stop items:8 --stop certainty:0.9 --session ann.json
    bnmind test models/banks/ability.json --selector fisher --stop items:5+deviation:0.4
    bnmind test models/banks/fractions.json --design models/designs/fractions.toml
    """
    from bnmind.adaptive.stopping import default_stop_words

    if salvage and session is None:
        raise BnmindError("--salvage needs --session, which names the damaged file")
    items = adaptive.read_bank(bank)
    content, is_usual = _content(items, test, selector, seed)
    resumed = session is not None and is_saved(session)
    if session is not None and resumed:
        given = test.content(selector, seed) if test.design is None else content
        run = _resumed(session, items, test, given, salvage=salvage)
    else:
        design, about = test.of(content, items), {}
        if not design.text:
            about = {"selector": content["select"]["by"]} if "select" in content else {}
            about["stop"] = " ".join(content["stop"]["any"])
        if session is not None:
            check_writable(session)
        run = working(
            PREPARING, lambda _: adaptive.Session.start(design, path=session, about=about)
        )
    if not interruptible(lambda: run.stop_reason):
        # Raise before any output if the selector does not fit the bank.
        interruptible(run.next_item)
    n_items, n_skills = len(items.items), len(items.skills)
    tell(
        f"{run.bank.title or bank.name}: {counted(n_items, 'item')}, {counted(n_skills, 'skill')}."
        + (f" Resumed after {counted(len(run.state.asked), 'item')}." if resumed else "")
    )
    if is_usual and not resumed:
        tell(f"{default_stop_words(items)}; --stop says otherwise.")
    tell("Type each answer; s skips, u undoes, ? says why this item, q quits.")
    if run.path is None:
        tell("The answers are not saved; --session FILE would save each, to resume the test.")
    else:
        again = f"the same command with --session {in_shell(run.path)} resumes the test"
        tell(f"Each answer is saved in {run.path}; {again}.")
    talk = _Items(run)
    interrupted = converse(talk.ask, talk.act, fatal=OvertakenError)
    run = talk.session
    tell("")
    show_parts(parts_of(run.report()))
    if run.path is not None and not run.stop_reason:
        tell(f"Saved in {run.path}; --session {in_shell(run.path)} resumes the test.")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _content(
    bank: adaptive.ItemBank, test: DesignOptions, selector: str | None, seed: int | None
) -> tuple[dict[str, Any], bool]:
    """Return the content of the design of a test, and whether it stops as tests without --stop."""
    from bnmind.adaptive.stopping import default_stop

    content = test.content(selector, seed)
    if "stop" in content:
        return content, False
    return {**content, "stop": {"any": [*default_stop(bank)]}}, True


def _resumed(
    path: Path,
    bank: adaptive.ItemBank,
    test: DesignOptions,
    given: Mapping[str, Any],
    *,
    salvage: bool,
) -> adaptive.Session:
    """Return a saved test; raise if options that are given are not those of it.

    A file of a design is given as a whole.
    """
    from bnmind.adaptive.sessions import content_saved, read_session

    try:
        saved = read_session(path, salvage=salvage)
    except ModelFileError as fault:
        cut = fault.line is not None and not salvage
        more = "; --salvage saves what is whole in another file" if cut else ""
        raise ModelFileError(f"{fault}{more}", str(path)) from fault
    known = own = content_saved(saved.about, str(path))
    if known is None:
        stop = {"any": saved.about.get("stop", "").split()}
        select = {"by": saved.about.get("selector", DEFAULT_SELECTOR)}
        known = {"select": select, "stop": stop, "seed": saved.seed}
    whole = {**known, **given} if test.design is None else given
    if json.dumps(whole).casefold() != json.dumps(known).casefold():
        names = [f"--{name}" for name in given] if test.design is None else ["--design"]
        raise BnmindError(
            f"expected the design of the test saved in {path}, got another one; leave out"
            f" {' and '.join(names).replace('--select', '--selector')} to resume it, or name"
            " another file by --session"
        )
    design = bank if own is not None else test.of(known, bank)
    run = working(PREPARING, lambda _: adaptive.Session.load(path, design, salvage=salvage))
    if salvage:
        copy = path.with_name(f"{path.name}.salvaged")
        if copy.exists():
            raise BnmindError(f"{copy} exists already; --session {copy} resumes it")
        return run.save(copy, new=True)
    return run


@dataclass
class _Items:
    """A test on the terminal."""

    session: adaptive.Session

    def ask(self) -> _Given | Command:
        """Return what the examinee enters."""
        session, bank = self.session, self.session.bank
        if reason := interruptible(lambda: session.stop_reason):
            tell(f"\nThe test is over: {reason}{_skipped(session)}.")
            return ask_end("u")
        item = working("selecting an item", lambda _: session.next_item())
        text = bank.item(item).text
        tell(f"\n{len(session.state.asked) + 1}. {item}{f': {text}' if text else ''}")
        answers = {name: bank.responses(name) for name in bank.item_names}
        commands = (Command.UNDO, Command.HINT, Command.QUIT)
        return _answer(item, answers, bank.response, commands=commands)

    def act(self, entry: _Given | Command) -> bool:
        """Do what the examinee enters; return whether the test goes on."""
        before = self.session
        if entry is Command.QUIT:
            return False
        if entry is Command.HINT:
            _show_why(before)
            return True
        self.session = _after(before, entry, before.state.responses)
        if entry is Command.UNDO:
            tell("  undone")
        elif self.session.impossible and not before.impossible:
            from bnmind.adaptive.sessions import IMPOSSIBLE

            tell(f"  {IMPOSSIBLE}")
        return True


def _skipped(session: adaptive.Session) -> str:
    """Return how many of the items asked have no answer, as the end of a sentence."""
    asked, answered = len(session.state.asked), len(session.state.responses)
    if asked == answered:
        return ""
    if not answered:
        return "; none was answered"
    skipped = asked - answered
    return f"; {counted(skipped, 'item')} {'was' if skipped == 1 else 'were'} skipped"


def _show_why(session: adaptive.Session) -> None:
    labels = dict(zip(session.bank.skills, session.bank.labels, strict=True))
    shown = [row for row in interruptible(session.rank) if row.allowed][:_SHOWN]
    rows = [
        (
            row.item,
            f"{row.information:.3f}",
            labels[row.skill],
            f"{row.by_skill[row.skill]:.3f}",
        )
        for row in shown
    ]
    tell(f"{session.belief.entropy:.2f} bits are unknown. The most informative items:")
    show_parts([Table(("item", "bits", "mostly about", "bits"), rows)])


# --- bnmind ask ----------------------------------------------------------------------------------

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
    if options.as_json and not options.rank:
        raise BnmindError("--json needs --rank: a dialogue is not printed as JSON")
    if options.session is not None and not options.rank:
        check_writable(options.session)
    saved = None
    if options.session is not None and is_saved(options.session):
        saved = questions.read_dialogue(options.session)
    texts = _merge_options(options, None if saved is None else saved.options)
    stoppers = tuple(
        made_by_name("stopper", questions.DIALOGUE_STOPPERS, text)
        for text in texts.get("--stop", ())
    )
    inquiry = _inquiry(options, texts)
    dialogue = (
        questions.Dialogue(inquiry)
        if saved is None
        else questions.resumed_dialogue(saved, inquiry, path=options.session or "")
    )
    if options.rank:
        ranking = working("ranking the questions", lambda _: dialogue.ranking)
        if options.as_json:
            rows = [vars(row) | {"predicted": dict(row.predicted)} for row in ranking]
            about = list(inquiry.about)
            tell_record({"about": about, "entropy": dialogue.entropy, "questions": rows})
        else:
            tell(repr(ranking))
        return
    text = None if saved is None else saved.text
    talk = _Questions(
        dialogue=dialogue, stoppers=stoppers, options=texts, path=options.session, text=text
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
    interrupted = converse(talk.ask, talk.act, fatal=OvertakenError)
    show_parts(_report_shown(talk.dialogue))
    if talk.path is not None and not talk.dialogue.stop_reason(talk.stoppers):
        tell(f"Saved in {talk.path}; the same command resumes the dialogue.")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@dataclass
class _Questions:
    """A dialogue on the terminal, and its file."""

    dialogue: questions.Dialogue
    stoppers: tuple[DialogueStopper, ...]
    options: Mapping[str, Sequence[str]]
    path: Path | None
    text: str | None
    """The content of the file when it was last read or written; None if there is none."""
    question: str = ""
    """The question that is asked."""

    def go_on(self, dialogue: questions.Dialogue) -> None:
        """Save another state of the dialogue, and go on with it."""
        if self.path is not None:
            options = {name: json.dumps(texts) for name, texts in self.options.items()}
            self.text = questions.write_dialogue(
                self.path, dialogue, options=options, before=self.text
            )
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
        tell(f"\n{len(dialogue.state.asked) + 1}. {question}")

        def check(name: str, state: str) -> None:
            model.variable(name).index(state)

        def read(text: str) -> _Given | None:
            if not (why := re.match(r"\?|why\s", text, re.IGNORECASE)):
                return None
            name = text[why.end() :].strip()
            model.variable(name)
            return _Given(name, why=True)

        states = {v.name: v.states for v in model.variables}
        return _answer(question, states, check, commands=_COMMANDS, read=read)

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
            show_parts(_why_shown(self.dialogue, entry.name))
        else:
            answers = self.dialogue.state.responses
            self.go_on(interruptible(lambda: _after(self.dialogue, entry, answers))[0])
            if entry is Command.UNDO:
                tell("  undone")
            show_parts(_belief_shown(self.dialogue))
        return True


# --- The inquiry: options of the command, or of a saved dialogue ----------------------------------


def _inquiry(options: AskOptions, texts: Mapping[str, Sequence[str]]) -> questions.Inquiry:
    """Return what is asked about which network, and how."""
    from bnmind.pgm.files import read

    named = {name: values[0] for name, values in texts.items() if values}
    tables = map(questions.read_costs, texts.get("--costs", ()))
    costs = {name: cost for table in tables for name, cost in table.items()}
    network = options.model.read(read)
    states = {v.name: v.states for v in network.variables}
    marks = _marks(options.model.path)
    about = tuple(names_of(texts.get("--about", ()), states.keys()))
    among = tuple(names_of(texts.get("--among", ()), states.keys()))
    evidence = evidence_of(texts.get("--evidence", ()), states)
    if marks is not None:
        about = about or tuple(name for name in marks.targets if name not in evidence)
        among = among or tuple(name for name in marks.observations if name not in about)
    if not about:
        raise BnmindError("name the targets of the questions with --about, such as --about fault")
    return working(
        "planning",
        lambda _: questions.Inquiry.of(
            network,
            about=about,
            among=among or None,
            evidence=evidence,
            costs=costs,
            measure=named.get("--measure", "joint"),
            score=named.get("--score", "information"),
        ),
    )


def _merge_options(
    options: AskOptions, saved: Mapping[str, str] | None
) -> Mapping[str, Sequence[str]]:
    """Return the texts of each option that was given, or those of a saved dialogue.

    Raises
    ------
    BnmindError
        If an option contradicts the saved dialogue.
    """
    given = {}
    for name in ("about", "among", "evidence", "costs", "score", "measure", "stop"):
        if value := getattr(options, name):
            texts = value if isinstance(value, list | tuple) else [value]
            given[f"--{name}"] = [str(text) for text in texts]
    if saved is None:
        return given
    # A dialogue of before may have another name of an option.
    before = {name.replace("given", "evidence"): _read_list(name, saved[name]) for name in saved}
    for name, texts in given.items():
        if (began := before.get(name, [])) != texts:
            with_them = f"with {name} {' '.join(began)}" if began else f"without {name}"
            raise BnmindError(
                f"the dialogue saved in {options.session} began {with_them}, not with {name}"
                f" {' '.join(texts)}; repeat its options, or name another file with --session"
            )
    return before


def _read_list(name: str, text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise BnmindError(f"the saved dialogue has an option {name} that cannot be read")
    return found


def _marks(path: Path) -> DiagnosisMarks | None:
    """Return the marks for diagnosis in a file of GeNIe; None for other files."""
    if Path(path.name.removesuffix(".gz")).suffix.lower() != ".xdsl":
        return None
    return questions.read_diagnosis(path)


def _belief_shown(dialogue: questions.Dialogue) -> Iterator[str]:
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


def _why_shown(dialogue: questions.Dialogue, question: str) -> Iterator[str | Table]:
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


def _report_shown(dialogue: questions.Dialogue) -> Iterator[str | Table]:
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
