"""``bnmind test``: an adaptive test of one examinee on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bnmind._display import Table
from bnmind._files import SMALL_FILE, check_writable
from bnmind._messages import counted, in_shell, percent, shown
from bnmind.cli.inputs import DEFAULT_SELECTOR, DesignOptions, SelectorName, with_named_prior
from bnmind.cli.shared.command import Seed, is_saved, show_parts
from bnmind.cli.shared.dialogue import Command, ask
from bnmind.cli.shared.terminal import INTERRUPTED, interruptible, one_line, tell, working
from bnmind.errors import BnmindError, NothingToAskError, SessionFileError

if TYPE_CHECKING:
    from bnmind.adaptive import Design, ItemBank, Session


PREPARING = "preparing the test"

_AT_THE_END = {"u": Command.UNDO, "q": Command.QUIT}
_COMMANDS = {"u": Command.UNDO, "?": Command.HINT, "q": Command.QUIT}
_IMPOSSIBLE = (
    "No examinee gives all these answers, by the bank; each of them now counts as an error"
    " with a probability of 2^-40."
)
_SHOWN = 5
"""Items that a hint ranks."""


@dataclass(frozen=True)
class _Given:
    """An answer as it was typed."""

    item: str
    response: str | None
    """None if the item is skipped."""


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
    from bnmind.adaptive import Session, read_bank, stopper_by_names
    from bnmind.adaptive.stopping.registry import default_stop, default_stop_words

    if salvage and session is None:
        raise BnmindError("--salvage needs --session, which names the damaged file")
    items = read_bank(bank)
    asked = {"selector": selector, "stop": " ".join(test.stop) if test.stop else None}
    about: Mapping[str, str] = {k: text for k, text in asked.items() if text is not None}
    whole = _whole(items, test, selector, seed)
    resumed = session is not None and is_saved(session)
    if session is not None and resumed:
        if whole is not None:
            about = {"design": whole.text}
        named = "design" if test.design is not None else "prior"
        about = _as_saved(session, about, salvage=salvage, named=named)
    elif whole is None and not test.stop:
        about = {**about, "stop": " ".join(default_stop(items))}
    whole = whole or _design(items, about, seed)
    if session is None or not resumed:
        if session is not None:
            check_writable(session)
        about = {} if whole.text else about
        run = working(PREPARING, lambda _: Session.start(whole, path=session, about=about))
    else:
        place = session
        run = working(PREPARING, lambda _: Session.load(place, whole, salvage=salvage))
        if seed is not None and seed != run.design.seed:
            raise BnmindError(
                f"expected --seed {run.design.seed} of the test saved in {session}, got {seed}"
            )
        if salvage:
            copy = session.with_name(f"{session.name}.salvaged")
            if copy.exists():
                raise BnmindError(f"{copy} exists already; --session {copy} resumes it")
            run = run.save(copy, new=True)
    if not interruptible(lambda: run.stop_reason):
        # Raise before any output if the selector does not fit the bank.
        interruptible(run.next_item)
    n_items, n_skills = len(items.items), len(items.skills)
    tell(
        f"{run.bank.title or bank.name}: {counted(n_items, 'item')}, {counted(n_skills, 'skill')}."
        + (f" Resumed after {counted(len(run.state.asked), 'item')}." if resumed else "")
    )
    if not resumed and not test.stop and whole.stopper == stopper_by_names(default_stop(items)):
        tell(f"{default_stop_words(items)}; --stop says otherwise.")
    tell("Type each answer; s skips, u undoes, ? says why this item, q quits.")
    tell(_place(run))
    _converse(run)


def _place(session: Session) -> str:
    """Return where the answers are kept, and how to go on with the test."""
    if session.path is None:
        return "The answers are not saved; --session FILE would save each, to resume the test."
    return (
        f"Each answer is saved in {session.path}; the same command with --session"
        f" {in_shell(session.path)} resumes the test."
    )


def _whole(
    bank: ItemBank, test: DesignOptions, selector: str | None, seed: int | None
) -> Design | None:
    """Return the whole design that a file or a prior makes; None if there is neither."""
    from bnmind.adaptive import read_design
    from bnmind.adaptive.sessions.design_file import design_from, with_options
    from bnmind.adaptive.stopping.registry import default_stop

    if test.design is None and test.prior is None:
        return None
    if test.design is None:
        with_named_prior(bank, test.prior)  # names the option in an error
    given: dict[str, Any] = {"selector": selector, "seed": seed, "prior": test.prior}

    def with_stop(texts: Sequence[str]) -> Design:
        if test.design is not None:
            return read_design(test.design, bank, stop=texts, **given)
        return design_from(with_options({}, stop=texts, **given), bank)

    whole = with_stop(test.stop or ())
    return with_stop(default_stop(bank)) if whole.stopper is None else whole


def _design(bank: ItemBank, about: Mapping[str, str], seed: int | None) -> Design:
    from bnmind.adaptive import Design, selector_by_name, stopper_by_names
    from bnmind.adaptive.sessions.resume import design_saved

    return design_saved(about, bank) or Design(
        bank,
        selector_by_name(about.get("selector", DEFAULT_SELECTOR)),
        stopper_by_names(about.get("stop", "").split()),
        seed=seed or 0,
    )


def _as_saved(
    path: Path, asked: Mapping[str, str], *, salvage: bool, named: str
) -> Mapping[str, str]:
    """Return the options of a saved test; raises if others are asked for.

    ``named`` is the option that makes a design.
    """
    from bnmind.adaptive.items.bank_files import read_text
    from bnmind.adaptive.sessions.records import salvaged, session_from_json

    text = read_text(path, most=SMALL_FILE, damaged=True)
    try:
        saved = salvaged(text) if salvage else session_from_json(text)
    except SessionFileError as fault:
        cut = fault.line is not None and not salvage
        more = "; --salvage saves what is whole in another file" if cut else ""
        raise SessionFileError(f"{fault}, in {path}{more}", str(path)) from fault
    has_design = "design" in saved.about
    if has_design and asked.get("design", saved.about["design"]) != saved.about["design"]:
        raise BnmindError(
            f"expected the design of the test saved in {path}, got another one; leave out --design,"
            " --prior and other options to resume, or name another file by --session"
        )
    for name, text in asked.items():
        if name == "design" and has_design:
            continue
        if has_design or name == "design":
            more = f"the test saved in {path} {'has' if has_design else 'has not'} a design"
            option = named if name == "design" else name
            raise BnmindError(f"{more}; leave out --{option} to resume it")
        value = saved.about.get(name, DEFAULT_SELECTOR if name == "selector" else "")
        if _in_one_case(name, text) == _in_one_case(name, value):
            continue
        if not value:
            raise BnmindError(
                f"{path} was saved without --{name}; leave out --{name} {text}, or name another"
                " file by --session"
            )
        raise BnmindError(
            f"expected --{name} {value} as in the test saved in {path}, got {text};"
            " --session may name another file"
        )
    return saved.about


def _in_one_case(option: str, text: str) -> str:
    """Return the value of an option with names in lower case; those of skills stay."""
    if option == "stop":
        return text.lower()
    name, colon, argument = text.partition(":")
    return f"{name.lower()}{colon}{argument}"


def _converse(session: Session) -> None:
    """Go from item to answer until the test is over or the examinee leaves."""
    going: Session | None = session
    interrupted = False
    while going is not None:
        session = going
        try:
            going = _step(session)
        except KeyboardInterrupt:
            tell("")
            interrupted, going = True, None
    _show_report(session)
    if session.path is not None and not session.stop_reason:
        tell(f"Saved in {session.path}; --session {in_shell(session.path)} resumes the test.")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _step(session: Session) -> Session | None:
    """Return the session after one more question to the examinee; None if that ends it."""
    reason = interruptible(lambda: session.stop_reason)
    if not reason:
        item = working("selecting an item", lambda _: session.next_item())
        _show_item(session, item)
        answer = _ask_answer(session, item)
    else:
        tell(f"\nThe test is over: {reason}{_skipped(session)}.")
        answer = ask("Enter ends, u undoes: ", _end, commands=_AT_THE_END)
    if answer is Command.QUIT:
        return None
    try:
        if answer is Command.UNDO:
            session = session.undo(at=_now())
            tell("  undone")
        elif answer is Command.HINT:
            _show_why(session)
        elif isinstance(answer, _Given):
            was_possible = not session.impossible
            session = _answered(session, answer)
            if session.impossible and was_possible:
                tell(f"  {_IMPOSSIBLE}")
    except SessionFileError as fault:
        # Nothing that is typed from here on could be saved.
        raise BnmindError(
            f"expected {session.path} as this test left it, got another content: another program"
            " has written to it, and the last answer here is not saved; the same command resumes"
            " what is there"
        ) from fault
    except (BnmindError, NothingToAskError) as fault:
        tell(f"  {one_line(fault)}")
    return session


def _skipped(session: Session) -> str:
    """Return how many of the items asked have no answer, as the end of a sentence."""
    asked, answered = len(session.state.asked), len(session.state.responses)
    if asked == answered:
        return ""
    if not answered:
        return "; none was answered"
    skipped = asked - answered
    return f"; {counted(skipped, 'item')} {'was' if skipped == 1 else 'were'} skipped"


def _end(text: str) -> Command:
    if text:
        raise BnmindError(f"expected Enter or u, got {shown(text)}")
    return Command.QUIT


def _now() -> str:
    from datetime import datetime

    return datetime.now().isoformat(timespec="seconds")


def _answered(session: Session, given: _Given) -> Session:
    if given.response is None:
        return session.skip(given.item, at=_now())
    act = session.change if given.item in session.state.responses else session.answer
    return act(given.item, given.response, at=_now())


def _ask_answer(session: Session, item: str) -> _Given | Command:
    bank = session.bank
    responses = bank.responses(item)

    def read(text: str) -> _Given:
        if text in responses:
            return _Given(item, text)
        if text.lower() in ("s", "skip"):
            return _Given(item, None)
        if "=" in text:
            return _of_item(bank, text)
        bank.response(item, text)  # says what could have been answered
        return _Given(item, text)

    # A response may be called like a command: then it is a response.
    commands = {letter: command for letter, command in _COMMANDS.items() if letter not in responses}
    return ask(f"Answer [{'/'.join(responses)}]: ", read, commands=commands)


def _of_item(bank: ItemBank, text: str) -> _Given:
    """Return the answer ``ITEM=ANSWER``; names may contain ``=``, and blanks at their ends."""
    names = {name.strip(): name for name in bank.item_names}
    for place, sign in enumerate(text):
        name, response = text[:place].strip(), text[place + 1 :].strip()
        if sign == "=" and name in names and response in bank.responses(names[name]):
            return _Given(names[name], response)
    name, _, response = (part.strip() for part in text.rpartition("="))
    bank.response(names.get(name, name), response)  # says what could have been answered
    return _Given(names.get(name, name), response)


def _show_item(session: Session, name: str) -> None:
    item = session.bank.item(name)
    number = len(session.state.asked) + 1
    tell(f"\n{number}. {name}" + (f": {item.text}" if item.text else ""))


def _show_why(session: Session) -> None:
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


def _show_report(session: Session) -> None:
    from bnmind.adaptive import ability_deviation, expected_ability
    from bnmind.adaptive.beliefs.ability_estimates import has_ability

    report, shown = session.report(), session.design.report
    if report.impossible:
        tell(f"\n{_IMPOSSIBLE}")
    items = counted(len(report.asked), "item")
    if report.pilot:
        items += f" ({len(report.pilot)} new, which do not count)"
    skipped = f", {len(report.skipped)} skipped" if report.skipped else ""
    tell(
        f"\n{items} asked{skipped}; {report.entropy_before:.2f} bits unknown before,"
        f" {report.entropy:.2f} now."
    )
    if report.answers and shown.answers:
        rows = [(one.item, one.response, percent(one.p_value)) for one in report.answers]
        show_parts([Table(("item", "answer", "as surprising or more"), rows)])
    if has_ability(session.bank):
        mean, deviation = expected_ability(session.belief), ability_deviation(session.belief)
        row = (report.skills[0].label, f"{mean:.2f} ± {deviation:.2f}")
        show_parts([Table(("", "expected value ± standard deviation"), [row])])
        return
    header = ["skill", "level", "probability"]
    header += ["if the parameters were others (90 %)"] * shown.parameters
    skills = [one for one in report.skills if not shown.skills or one.skill in shown.skills]
    results = []
    for one in skills:
        ends = [" to ".join(map(percent, one.interval or ()))] * shown.parameters
        results.append((one.label, one.level, percent(one.probability), *ends))
    show_parts([Table(header, results)])
