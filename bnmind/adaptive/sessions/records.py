"""Records of sessions and of designs of tests, and the designs made of them.

A session is JSON with one event on each line.

::

    {"schema": "bnmind-session", "version": 1,
     "bank": {"title": "…", "items": 20, "skills": 8, "fingerprint": "…"},
     "seed": 0, "about": {"selector": "entropy"},
     "events": [
      {"kind": "answer", "item": "item_7", "response": "1", "at": "2026-03-01T10:15:02"},
      {"kind": "undo", "at": "2026-03-01T10:15:09"}
     ]}

So all complete lines of a truncated file can be read, see `salvaged`.

A design is TOML; `bnmind.adaptive.sessions.design_file` reads it. This module imports pydantic, so
other modules import it when first needed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from bnmind._files import parse_json
from bnmind._messages import listed, shown
from bnmind._records import (
    EXACTLY,
    Faults,
    FileRecord,
    LargeRecord,
    Record,
    Texts,
    as_list,
    fields_given,
    or_table,
    record_from_json,
)
from bnmind._registry import as_registered, made_by_name
from bnmind.adaptive.assembly.blueprint import Blueprint, Bound, CodeBound, ItemsBound, SkillBound
from bnmind.adaptive.assembly.shadow_test import ShadowTest
from bnmind.adaptive.assembly.stages import ContentOrder, Stage, Staged, StageItems, StartItems
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.bank_tables import BANK_PRIOR, prior_of
from bnmind.adaptive.pilot import PILOT_RULES, PilotItems, pilot_faults
from bnmind.adaptive.selection.exposure import (
    ItemEligibility,
    Progressive,
    Randomesque,
    SympsonHetter,
)
from bnmind.adaptive.selection.rules import Enemies, Rule, Testlets, named_codes
from bnmind.adaptive.selection.selector import ScoringSelector, Selector
from bnmind.adaptive.selection.selectors import LENGTH, SELECTORS, FixedOrder, selector_by_name
from bnmind.adaptive.sessions.design import Design, ReportOptions
from bnmind.adaptive.sessions.events import Event
from bnmind.adaptive.stopping.ending import most_items_of
from bnmind.adaptive.stopping.stoppers import stopper_by_names
from bnmind.errors import InvalidArgumentError, ModelFileError, UnknownNameError

_NONE, _BETWEEN, _END = "[\n", ",\n", "\n ]}\n"
"""The text before the first event, between two, and after the last."""

_DIGITS = 9
"""Digits of the probabilities in a fingerprint; further digits may differ between machines."""


class _BankRecord(LargeRecord):
    title: str = ""
    items: int
    skills: int
    fingerprint: str


class SavedSession(FileRecord):
    """The content of a session file."""

    bank: _BankRecord
    seed: Annotated[int, Field(ge=0)] = 0
    about: dict[str, str] = Field(default_factory=dict)
    """Other texts saved with the test."""
    events: tuple[Annotated[Event, EXACTLY], ...]


_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, EXACTLY])


def bank_fingerprint(bank: ItemBank) -> str:
    """Return a text that differs between banks with different skills, items or probabilities.

    It does not depend on wording, titles, costs and content codes, which may be corrected
    during a session.
    """
    digest = hashlib.sha256()

    def enter(*parts: object) -> None:
        digest.update(json.dumps(parts).encode())

    enter(bank.skills, [(v.name, v.states) for v in bank.hidden])
    for cpd in bank.hidden_network().cpds:
        factor = cpd.to_factor()
        enter(factor.names, factor.values.shape)
        digest.update(_rounded(np.real(factor.values)))
    for name in bank.item_names:
        enter(name, bank.responses(name), bank.cause(name))
        digest.update(_rounded(bank.channel(name)))
    return digest.hexdigest()[:32]


def _rounded(values: Any) -> bytes:
    scaled = np.round(np.asarray(values, dtype=np.float64) * 10**_DIGITS)
    return np.ascontiguousarray(scaled.astype("<i8")).tobytes()


def session_to_json(
    bank: ItemBank, seed: int, about: Mapping[str, str], events: Sequence[Event]
) -> str:
    """Return a session as JSON text with one event on each line."""
    head = {
        "schema": "bnmind-session",
        "version": 1,
        "bank": {
            "title": bank.title,
            "items": len(bank.items),
            "skills": len(bank.skills),
            "fingerprint": bank_fingerprint(bank),
        },
        "seed": seed,
        "about": dict(about),
    }
    start = json.dumps(head, ensure_ascii=False)[:-1]
    return f'{start},\n "events": {_NONE}{_BETWEEN.join(map(_line, events))}{_END}'


def extended(text: str, event: Event) -> str:
    """Return the text of `session_to_json` with one more event, by appending it."""
    whole = text.removesuffix(_END)
    return f"{whole}{'' if whole.endswith(_NONE) else _BETWEEN}{_line(event)}{_END}"


def session_from_json(text: str) -> SavedSession:
    """Return the content of a session file.

    Raises
    ------
    ModelFileError
        If the text is truncated, with the line and column of the fault and the number of
        complete events; is not of this form; or is of a newer version.
    """
    try:
        parse_json(text)
    except ModelFileError as fault:
        line, column = fault.line, fault.column
        whole = _whole_events(text)
        if not whole and not text.lstrip().startswith("{"):
            raise ModelFileError(f"expected a saved session, got {shown(text)}") from fault
        raise ModelFileError(
            f"the session is truncated or damaged at line {line}, column {column}, after"
            f" {len(whole)} whole event{'s' * (len(whole) != 1)}, which can be salvaged",
            line=line,
            column=column,
        ) from fault
    return _validated(text)


def salvaged(text: str) -> SavedSession:
    """Return the content of the complete lines of a truncated or damaged file.

    Raises
    ------
    ModelFileError
        If its first line is not complete.
    """
    head = text.split("\n", 1)[0].rstrip().rstrip(",")
    saved = _validated(f'{head}, "events": []}}')
    return saved.model_copy(update={"events": _whole_events(text)})


def _validated(text: str) -> SavedSession:
    try:
        return record_from_json(text, "bnmind-session", {1: SavedSession})
    except ModelFileError as fault:
        raise ModelFileError(str(fault)) from fault


def _whole_events(text: str) -> tuple[Event, ...]:
    events = []
    # Not splitlines: JSON strings may contain other line separators.
    for line in text.split("\n")[2:]:
        try:
            events.append(_EVENT.validate_json(line.strip().rstrip(",")))
        except ValidationError:
            break
    return tuple(events)


def _line(event: Event) -> str:
    return f"  {json.dumps(fields_given(event), ensure_ascii=False)}"


def _as_range(value: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return {"min": value, "max": value} if is_number else value


_Count: TypeAlias = Annotated[int, Field(ge=0)]
_Positive: TypeAlias = Annotated[int, Field(ge=1)]


class StartRecord(Record):
    """A stage at the start of the test."""

    ask: Texts | None = None
    number: _Positive | None = None
    select: str | None = None
    within: float | None = None
    items: Texts | None = None
    codes: Texts | None = None
    skills: Texts | None = None


class _SelectRecord(Record):
    by: str | None = None
    shadow: bool = False


class ExposureRecord(Record):
    """A method of exposure control."""

    method: Literal["progressive", "randomesque", "sympson-hetter", "eligibility"]
    b: float | None = None
    best: _Positive | None = None
    rates: dict[str, float] | None = None
    r_max: float | None = None
    counts: str | dict[str, list[int]] | None = None


class _Range(Record):
    """The least and the largest number of items of a group; a number means exactly this many."""

    min: _Count = 0
    max: _Count | None = None


class _GroupRecord(_Range):
    name: str = ""
    items: Texts


class ContentRecord(Record):
    """The minima and maxima of a test."""

    codes: dict[str, Annotated[_Range, BeforeValidator(_as_range)]] = Field(default={})
    skills: dict[str, Annotated[_Range, BeforeValidator(_as_range)]] = Field(default={})
    groups: list[_GroupRecord] = Field(default=[])


class OrderRecord(Record):
    """The order of the content."""

    codes: Texts | None = None
    skills: Texts | None = None
    items: Texts | None = None


class _TestletRecord(Record):
    """Items that stay together."""

    __test__ = False  # pytest should not collect it

    items: Annotated[Texts, Field(min_length=2)]
    name: str = ""
    in_order: bool = False


class _EnemiesRecord(Record):
    items: Annotated[Texts, Field(min_length=2)]


class _StopRecord(Record):
    any: Texts


class PilotRecord(Record):
    """New items that are asked to learn their parameters."""

    items: Texts
    number: _Positive = 1
    places: list[_Positive] = Field(default=[])
    by: str | None = None
    count: bool = False
    complete: bool = True


class _ReportRecord(Record):
    skills: Texts | None = None
    answers: bool = True
    parameters: bool = False
    during: bool = False
    examinee: bool = True


class DesignRecord(Record):
    """The design of a test, as a file holds it."""

    title: str = ""
    seed: Annotated[int, Field(ge=0)] | None = None
    prior: Any = BANK_PRIOR
    parameters: Literal["learned", "averaged"] = "learned"
    start: Annotated[list[StartRecord], BeforeValidator(as_list)] = Field(default=[])
    select: Annotated[_SelectRecord, or_table("by")] = _SelectRecord()
    exposure: Annotated[list[ExposureRecord], BeforeValidator(as_list)] = Field(default=[])
    content: ContentRecord = ContentRecord()
    order: OrderRecord = OrderRecord()
    testlet: Annotated[list[_TestletRecord], BeforeValidator(as_list)] = Field(default=[])
    enemies: Annotated[list[_EnemiesRecord], BeforeValidator(as_list)] = Field(default=[])
    stop: Annotated[_StopRecord, or_table("any")] | None = None
    pilot: PilotRecord | None = None
    report: _ReportRecord = _ReportRecord()


_Stage: TypeAlias = tuple[Selector[SkillBelief] | None, int, float | None]
"""The selector of a stage, None for the usual one; its length; its key ``within``."""

_KEYS_OF_METHODS = {
    "progressive": ("b", "r_max", "counts"),
    "randomesque": ("best",),
    "sympson-hetter": ("rates",),
    "eligibility": ("r_max", "counts"),
}


def design_of(record: DesignRecord, bank: ItemBank, *, text: str) -> Design:
    """Return the design of a record.

    Parameters
    ----------
    record
        The record of a design file.
    bank
        The item bank.
    text
        The content of the file; see `Design.text`.

    Raises
    ------
    ModelFileError
        If the record is not a design of this bank. The error lists all faults.
    """
    faults = Faults()
    bank = faults.at("prior", prior_of, record.prior, bank) or bank
    if record.parameters == "averaged":
        bank = bank.averaged()
    grouped = _grouped(record, bank, faults)
    stopper = faults.at("stop", stopper_by_names, record.stop.any) if record.stop else None
    length = most_items_of(stopper)
    bounds = _bounds(record.content, bank, faults)
    has_testlets = any(item.testlet for item in grouped.items)
    blueprint = Blueprint(bounds, length) if bounds or has_testlets else None
    stages, start_rules = _start(record.start, bank, length, faults)
    asked = [name for rule in start_rules if isinstance(rule, StartItems) for name in rule.items]
    if blueprint is not None and not faults.found:
        fitted = faults.at("content", blueprint.for_test, grouped, length)
        problems = blueprint.faults(grouped, asked) if fitted is not None and asked else ()
        faults.found += [f"start: with these items first, {problem}" for problem in problems]
    selector = _selector(record, stages, blueprint, length, faults)
    order = _order(record.order, bank, faults)
    eligibility = _eligibility(record.exposure, bank, faults)
    pilot = None if record.pilot is None else _pilot(record.pilot, bank, faults)
    for skill in record.report.skills or ():
        if skill not in bank.skills:
            faults.found.append(f"report.skills: {UnknownNameError('skill', skill, bank.skills)}")
    if faults.found or selector is None:
        raise ModelFileError(faults.found, text)
    ordered = [
        name
        for name, testlet in zip(_testlet_names(record), record.testlet, strict=True)
        if testlet.in_order
    ]
    rules: list[Rule] = [Enemies()]
    rules += [blueprint] if blueprint is not None else []
    rules += [Testlets(ordered=tuple(ordered)), *start_rules, *order]
    return Design(
        bank=replace(grouped, title=record.title or bank.title),
        selector=selector,
        stopper=stopper,
        rules=tuple(rules),
        seed=record.seed or 0,
        eligibility=eligibility,
        pilot=pilot,
        report=ReportOptions(
            skills=tuple(record.report.skills or ()),
            answers=record.report.answers,
            parameters=record.report.parameters,
            during=record.report.during,
            examinee=record.report.examinee,
        ),
        text=text,
    )


def _pilot(record: PilotRecord, bank: ItemBank, faults: Faults) -> PilotItems | None:
    """Return the pilot items of a record."""
    if len(_known("pilot.items", record.items, bank, faults)) < len(record.items):
        return None
    name = record.by or "least-calibrated"
    rule = faults.at("pilot.by", made_by_name, "rule for pilot items", PILOT_RULES, name)
    if rule is None:
        return None
    make = partial(PilotItems, places=tuple(record.places), rule=rule, count=record.count)
    pilot = faults.at("pilot", make, tuple(record.items), record.number, complete=record.complete)
    if pilot is not None:
        faults.found += [f"pilot: {problem}" for problem in pilot_faults(pilot, bank)]
    return pilot


def _testlet_names(record: DesignRecord) -> list[str]:
    """Return the names of the testlets of the file; those without get a number."""
    return [t.name or f"testlet {n}" for n, t in enumerate(record.testlet, start=1)]


def _grouped(record: DesignRecord, bank: ItemBank, faults: Faults) -> ItemBank:
    """Return the bank with the testlets and enemies of the file, beside those of the bank."""
    testlet_of = {item.name: item.testlet for item in bank.items}
    enemies = {item.name: set(item.enemies) for item in bank.items}
    for number, (name, testlet) in enumerate(
        zip(_testlet_names(record), record.testlet, strict=True), start=1
    ):
        for item in _known(f"testlet {number}.items", testlet.items, bank, faults):
            if testlet_of[item] not in ("", name):
                faults.found.append(
                    f"testlet {number}.items: {shown(item)} is in {shown(testlet_of[item])} already"
                )
            testlet_of[item] = name
    for number, group in enumerate(record.enemies, start=1):
        known = _known(f"enemies {number}.items", group.items, bank, faults)
        for item in known:
            enemies[item] |= set(known) - {item}
        inside = [testlet_of[item] for item in known if testlet_of[item]]
        for name in sorted({name for name in inside if inside.count(name) > 1}):
            faults.found.append(
                f"enemies {number}.items: items of {shown(name)} stay together, so they cannot be"
                " enemies"
            )
    items = tuple(
        replace(item, testlet=testlet_of[item.name], enemies=tuple(sorted(enemies[item.name])))
        for item in bank.items
    )
    return bank if items == bank.items else replace(bank, items=items)


def _known(place: str, names: Sequence[str], bank: ItemBank, faults: Faults) -> list[str]:
    """Return the names that are items of the bank; others are faults, as are repeated ones."""
    known = [name for name in names if name in bank.item_names]
    unknown = list(dict.fromkeys(name for name in names if name not in bank.item_names))
    if len(unknown) == 1:
        faults.found.append(f"{place}: {UnknownNameError('item', unknown[0], bank.item_names)}")
    elif unknown:
        some = ", ".join(map(shown, unknown[:5])) + (", …" if len(unknown) > 5 else "")
        faults.found.append(f"{place}: the bank has no items {some}")
    for name in sorted({name for name in known if known.count(name) > 1}):
        faults.found.append(f"{place}: {shown(name)} is there twice")
    return list(dict.fromkeys(known))


def _bounds(record: ContentRecord, bank: ItemBank, faults: Faults) -> tuple[Bound, ...]:
    has_codes = any(item.content for item in bank.items)
    if record.codes and not has_codes:
        faults.found.append("content.codes: the items of this bank have no content codes")
    made: list[Bound | None] = [
        faults.at(f"content.codes.{code}", _of_bank, bank, CodeBound(code), one.min, one.max)
        for code, one in record.codes.items()
        if has_codes
    ]
    made += [
        faults.at(f"content.skills.{skill}", _of_bank, bank, SkillBound(skill), one.min, one.max)
        for skill, one in record.skills.items()
    ]
    for number, group in enumerate(record.groups, start=1):
        place = f"content.groups {number}"
        known = tuple(_known(f"{place}.items", group.items, bank, faults))
        bound = ItemsBound(known, name=group.name)
        made.append(faults.at(place, _of_bank, bank, bound, group.min, group.max))
    return tuple(bound for bound in made if bound is not None)


def _of_bank(
    bank: ItemBank, bound: CodeBound | SkillBound | ItemsBound, least: int, most: int | None
) -> Bound:
    bound.members(bank)
    return replace(bound, least=least, most=most)


def _start(
    records: Sequence[StartRecord], bank: ItemBank, length: int | None, faults: Faults
) -> tuple[list[_Stage], list[Rule]]:
    """Return the stages and the rules of the start."""
    stages: list[_Stage] = []
    rules: list[Rule] = []
    question = 1
    for number, record in enumerate(records, start=1):
        place = f"start {number}"
        among = [record.items, record.codes, record.skills]
        if record.ask is not None:
            if record.number or record.select or record.within is not None or any(among):
                faults.found.append(f"{place}: ask stands alone, without any other key")
            items = _known(f"{place}.ask", record.ask, bank, faults)
            if items:
                rules.append(StartItems(tuple(items)))
                stages.append((FixedOrder(tuple(items)), len(items), None))
                question += len(items)
            continue
        if record.number is None:
            faults.found.append(f"{place}: expected ask, or the number of items in this stage")
            continue
        if record.select is None and record.within is None and not any(among):
            faults.found.append(f"{place}: expected select, items, codes or skills")
        selector = None
        if record.select is not None:
            selector = faults.at(f"{place}.select", _by_name, record.select, length)
        mask = np.zeros(len(bank.items), dtype=bool)
        mask[[bank.position(n) for n in _known(f"{place}.items", among[0] or (), bank, faults)]] = 1
        if (
            record.codes
            and (codes := faults.at(f"{place}.codes", named_codes, bank, record.codes)) is not None
        ):
            mask |= codes.any(axis=0)
        for skill in record.skills or ():
            one = faults.at(f"{place}.skills", SkillBound(skill).members, bank)
            mask |= False if one is None else one
        if any(among) and mask.any():
            names = tuple(bank.item_names[i] for i in np.flatnonzero(mask).tolist())
            rules.append(StageItems(names, question, question + record.number - 1))
        stages.append((selector, record.number, record.within))
        question += record.number
    return stages, rules


def _by_name(text: str, length: int | None) -> Selector[SkillBelief]:
    """Return the selector of a name; the length of the test is its argument if it needs one."""
    text = as_registered(SELECTORS, text)
    if text in SELECTORS and SELECTORS[text].argument is LENGTH:
        if length is None:
            raise InvalidArgumentError(
                f"{text} needs the length of the test, such as items:10 in [stop]", text
            )
        text = f"{text}:{length}"
    return selector_by_name(text)


def _selector(
    record: DesignRecord,
    stages: Sequence[_Stage],
    blueprint: Blueprint | None,
    length: int | None,
    faults: Faults,
) -> Selector[SkillBelief] | None:
    """Return the selector with exposure control, shadow tests and the stages at the start."""
    selector = faults.at("select.by", _by_name, record.select.by or "entropy", length)
    drawing = [(n, e) for n, e in zip(count(1), record.exposure) if e.method != "eligibility"]
    for number, _ in drawing[1:]:
        faults.found.append(f"exposure {number}: only one method can choose among the scored items")
    if record.select.shadow and drawing:
        faults.found.append(
            "select.shadow: a shadow test asks its best item; limit the exposure by"
            ' method = "eligibility"'
        )
    for number, entry in drawing[:1]:
        selector = faults.at(f"exposure {number}", _controlled, entry, selector, length)
    if record.select.shadow and not drawing:
        selector = faults.at("select.shadow", _shadow, selector, blueprint, length)
    if selector is None or not stages:
        return selector
    made = []
    for number, (own, length, within) in enumerate(stages, start=1):
        of_stage: Selector[SkillBelief] | None = own or selector
        if within is not None:
            of_stage = faults.at(f"start {number}.within", _near, of_stage, within)
        made.append(Stage(of_stage or selector, length))
    return Staged(tuple(made), selector)


def _near(selector: Selector[SkillBelief] | None, within: float) -> Selector[SkillBelief]:
    return Randomesque(_scoring(selector, "within"), sys.maxsize, within)


def _scoring(selector: Selector[SkillBelief] | None, what: str) -> ScoringSelector[SkillBelief]:
    if not isinstance(selector, ScoringSelector):
        raise InvalidArgumentError(
            f"{what} needs a selector that scores items, such as entropy or gdi, got"
            f" {type(selector).__name__}",
            selector,
        )
    return selector


def _controlled(
    entry: ExposureRecord, selector: Selector[SkillBelief] | None, length: int | None
) -> Selector[SkillBelief]:
    scored = _scoring(selector, f"method {entry.method}")
    if entry.method == "randomesque":
        return Randomesque(scored) if entry.best is None else Randomesque(scored, entry.best)
    if entry.method == "sympson-hetter":
        return SympsonHetter(scored, entry.rates or {})
    if length is None:
        raise InvalidArgumentError(
            "the progressive method needs the length of the test, such as items:10 in [stop]"
        )
    return Progressive(length, scored, entry.b or 0.0)


def _shadow(
    selector: Selector[SkillBelief] | None, blueprint: Blueprint | None, length: int | None
) -> Selector[SkillBelief]:
    if length is None:
        raise InvalidArgumentError(
            "shadow tests need the length of the test, such as items:10 in [stop]"
        )
    return ShadowTest(_scoring(selector, "a shadow test"), blueprint or Blueprint((), length))


def _order(record: OrderRecord, bank: ItemBank, faults: Faults) -> list[Rule]:
    rules: list[Rule] = []
    groups: list[Bound] = []
    for code in record.codes or ():
        bound = faults.at("order.codes", _of_bank, bank, CodeBound(code), 0, None)
        groups += [] if bound is None else [bound]
    for skill in record.skills or ():
        bound = faults.at("order.skills", _of_bank, bank, SkillBound(skill), 0, None)
        groups += [] if bound is None else [bound]
    if record.codes and record.skills:
        faults.found.append("order: expected either codes or skills, got both")
    if groups:
        rules.append(ContentOrder(tuple(groups)))
    if record.items:
        names = _known("order.items", record.items, bank, faults)
        if names:
            rules.append(StartItems(tuple(names)))
    return rules


def _eligibility(
    records: Sequence[ExposureRecord], bank: ItemBank, faults: Faults
) -> ItemEligibility | None:
    found: list[ItemEligibility | None] = []
    for number, entry in enumerate(records, start=1):
        place = f"exposure {number}"
        own = _KEYS_OF_METHODS[entry.method]
        for key in ("b", "best", "rates", "r_max", "counts"):
            if getattr(entry, key) is not None and key not in own:
                faults.found.append(
                    f"{place}.{key}: {entry.method} has no such key; it has {listed(own)}"
                )
        for name in entry.rates or ():
            faults.at(f"{place}.rates", bank.position, name)
        if "r_max" in own and entry.r_max is not None:
            found.append(faults.at(place, _counted, entry, bank))
        elif entry.method == "eligibility" or (entry.counts is not None and "r_max" in own):
            faults.found.append(f"{place}: r_max is missing, the largest share of tests of an item")
    if len(found) > 1:
        faults.found.append("exposure: expected one r_max, got more")
    return found[0] if found else None


def _counted(entry: ExposureRecord, bank: ItemBank) -> ItemEligibility:
    assert entry.r_max is not None
    start = ItemEligibility.start(bank, entry.r_max)
    if entry.counts is None:
        return start
    if not isinstance(entry.counts, dict) or set(entry.counts) != set(bank.item_names):
        raise InvalidArgumentError(
            "counts: expected for each item of the bank the numbers of tests in which it was"
            " eligible and was asked, as bnmind simulate writes them"
        )
    wrong = [name for name, pair in entry.counts.items() if len(pair) != 2]
    if wrong:
        raise InvalidArgumentError(f"counts: expected two numbers for {listed(wrong)}")
    pairs = np.array([entry.counts[name] for name in bank.item_names], dtype=np.float64)
    return ItemEligibility(entry.r_max, pairs[:, 0], pairs[:, 1])
