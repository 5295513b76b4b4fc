"""Designs of tests in TOML files, and the `Design` that each makes.

::

    [select]
    by = "gdi"

    [content.codes]
    sums = { min = 2, max = 4 }

    [stop]
    any = ["items:10", "certainty:0.95"]

The page "Designing a test" of the documentation describes all tables. A record checks each part
by itself, with the bank: whether there are such items, skills, selectors. What the parts are
together, `design_from` checks when it makes them. This module imports pydantic, so other modules
import it when first needed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, cast

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, parse_json, read_text
from bnmind._messages import listed, shown
from bnmind._records import (
    Faults,
    Record,
    Texts,
    as_list,
    in_file,
    or_table,
    parse_table,
    record_from_table,
)
from bnmind._registry import as_registered, made_by_name
from bnmind._values import Count, Natural
from bnmind.adaptive.bank_files import named_prior, prior_of
from bnmind.adaptive.blueprint import Blueprint, ShadowTest
from bnmind.adaptive.design import Design, ReportOptions
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.skill_distributions import BANK_PRIOR
from bnmind.adaptive.pilot import PILOT_RULES, PilotItems, pilot_faults
from bnmind.adaptive.rules import (
    Bound,
    CodeBound,
    ContentOrder,
    Enemies,
    ItemsBound,
    Rule,
    SkillBound,
    StageItems,
    StartItems,
    Testlets,
)
from bnmind.adaptive.scores import ScoringSelector, Selector
from bnmind.adaptive.selectors import (
    LENGTH,
    SELECTORS,
    FixedOrder,
    ItemEligibility,
    Progressive,
    Randomesque,
    Stage,
    Staged,
    SympsonHetter,
    selector_by_name,
)
from bnmind.adaptive.stopping import most_items_of, stopper_by_names
from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError, UnknownNameError

# --- The record, whose parts fit the bank ---------------------------------------------------------


def _fits(check: Callable[[ItemBank, Any], object]) -> AfterValidator:
    """Return the rule that a function of the bank and of a part of a record raises no error."""

    def validate(part: Any, info: ValidationInfo) -> Any:
        try:
            check(cast("ItemBank", info.context), part)
        except BnmindError as fault:
            raise PydanticCustomError("misfit", "{told}", {"told": str(fault)}) from fault
        return part

    return AfterValidator(validate)


def _check_items(bank: ItemBank, names: Sequence[str]) -> None:
    unknown = list(dict.fromkeys(name for name in names if name not in bank.item_names))
    if len(unknown) == 1:
        raise UnknownNameError("item", unknown[0], bank.item_names)
    if unknown:
        some = ", ".join(map(shown, unknown[:5])) + (", …" if len(unknown) > 5 else "")
        raise InvalidArgumentError(f"the bank has no items {some}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidArgumentError([f"{shown(name)} is there twice" for name in twice])


def _bounds_of(kind: type[CodeBound | SkillBound]) -> Callable[[ItemBank, Any], list[Bound]]:
    """Return a function that makes bounds for codes or skills, given with or without ranges."""

    def made(bank: ItemBank, given: Mapping[str, _Range] | Sequence[str]) -> list[Bound]:
        if given and kind is CodeBound and not any(item.content for item in bank.items):
            raise InvalidArgumentError("the items of this bank have no content codes")
        ranges = given if isinstance(given, Mapping) else dict.fromkeys(given, _Range())
        bounds: list[Bound] = [kind(name, one.min, one.max) for name, one in ranges.items()]
        for bound in bounds:
            bound.members(bank)  # raises if there are none of this name
        return bounds

    return made


_code_bounds, _skill_bounds = _bounds_of(CodeBound), _bounds_of(SkillBound)

_Items: TypeAlias = Annotated[Texts, _fits(_check_items)]
_SomeItems: TypeAlias = Annotated[Texts, Field(min_length=2), _fits(_check_items)]
_Codes: TypeAlias = Annotated[Texts, _fits(_code_bounds)]
_Skills: TypeAlias = Annotated[Texts, _fits(_skill_bounds)]


def _by_name(text: str, length: int | None) -> Selector:
    """Return the selector of a name; the length of the test is its argument if it needs one."""
    text = as_registered(SELECTORS, text)
    if text in SELECTORS and SELECTORS[text].argument is LENGTH:
        text = f"{text}:{_stated(length, f'{text} needs')}"
    return selector_by_name(text)


def _stated(length: int | None, what: str) -> int:
    """Return the length of the test; raises if the design states none."""
    if length is None:
        raise InvalidArgumentError(f"{what} the length of the test, such as items:10 in [stop]")
    return length


_Selector: TypeAlias = Annotated[str, _fits(lambda bank, text: _by_name(text, length=1))]


class _Start(Record):
    """A stage at the start of the test."""

    ask: _Items | None = None
    number: Count | None = None
    select: _Selector | None = None
    within: float | None = None
    items: _Items | None = None
    codes: _Codes | None = None
    skills: _Skills | None = None

    def bounds(self, bank: ItemBank) -> list[Bound]:
        """Return the groups among which the stage chooses; none for all items."""
        of_items = [ItemsBound(tuple(self.items))] if self.items else []
        groups = _code_bounds(bank, self.codes or ()) + _skill_bounds(bank, self.skills or ())
        return [*of_items, *groups]


def _check_start(bank: ItemBank, record: _Start) -> None:
    if record.ask is not None:
        if len(record.model_fields_set) > 1:
            raise InvalidArgumentError("ask stands alone, without any other key")
    elif record.number is None:
        raise InvalidArgumentError("expected ask, or the number of items in this stage")
    elif len(record.model_fields_set) == 1:
        raise InvalidArgumentError("expected select, items, codes or skills")


class _Select(Record):
    by: _Selector = "entropy"
    shadow: bool = False


_KEYS_OF_METHODS = {
    "progressive": ("b", "r_max", "counts"),
    "randomesque": ("best",),
    "sympson-hetter": ("rates",),
    "eligibility": ("r_max", "counts"),
}


class _Exposure(Record):
    """A method of exposure control."""

    method: Literal["progressive", "randomesque", "sympson-hetter", "eligibility"]
    b: float = 0.0
    best: Count = 5
    rates: Annotated[dict[str, float], _fits(lambda bank, given: _check_items(bank, [*given]))] = (
        Field(default={})
    )
    r_max: float | None = None
    counts: str | dict[str, list[int]] | None = None

    def eligibility(self, bank: ItemBank) -> ItemEligibility:
        """Return the exposure control that draws the items of a test before it."""
        if self.r_max is None:
            raise InvalidArgumentError("r_max is missing, the largest share of tests of an item")
        start = ItemEligibility.start(bank, self.r_max)
        if self.counts is None:
            return start
        if not isinstance(self.counts, dict) or set(self.counts) != set(bank.item_names):
            raise InvalidArgumentError(
                "counts: expected for each item of the bank the numbers of tests in which it was"
                " eligible and was asked, as bnmind simulate writes them"
            )
        if wrong := [name for name, pair in self.counts.items() if len(pair) != 2]:
            raise InvalidArgumentError(f"counts: expected two numbers for {listed(wrong)}")
        pairs = np.array([self.counts[name] for name in bank.item_names], dtype=np.float64)
        return ItemEligibility(self.r_max, pairs[:, 0], pairs[:, 1])


def _check_exposure(bank: ItemBank, entry: _Exposure) -> None:
    own = _KEYS_OF_METHODS[entry.method]
    if other := [key for key in entry.model_fields_set if key not in ("method", *own)]:
        raise InvalidArgumentError(f"{entry.method} has no key {other[0]}; it has {listed(own)}")
    if entry.method == "eligibility" or entry.model_fields_set & {"r_max", "counts"}:
        entry.eligibility(bank)


def _check_exposures(_: ItemBank, entries: Sequence[_Exposure]) -> None:
    if sum(entry.r_max is not None for entry in entries) > 1:
        raise InvalidArgumentError("expected one r_max, got more")
    if sum(entry.method != "eligibility" for entry in entries) > 1:
        raise InvalidArgumentError("only one method can choose among the scored items")


class _Range(Record):
    """The least and the largest number of items of a group; a number means exactly this many."""

    min: Natural = 0
    max: Natural | None = None


class _Group(_Range):
    name: str = ""
    items: _Items

    def bound(self) -> ItemsBound:
        """Return the bound for the number of these items."""
        return ItemsBound(tuple(self.items), self.min, self.max, name=self.name)


def _as_range(value: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return {"min": value, "max": value} if is_number else value


_Ranges: TypeAlias = dict[str, Annotated[_Range, BeforeValidator(_as_range)]]


class _Content(Record):
    """The minima and maxima of a test."""

    codes: Annotated[_Ranges, _fits(_code_bounds)] = Field(default={})
    skills: Annotated[_Ranges, _fits(_skill_bounds)] = Field(default={})
    groups: list[Annotated[_Group, _fits(lambda bank, group: group.bound())]] = Field(default=[])


class _Order(Record):
    """The order of the content."""

    codes: _Codes | None = None
    skills: _Skills | None = None
    items: _Items | None = None


def _check_order(bank: ItemBank, record: _Order) -> None:
    if record.codes and record.skills:
        raise InvalidArgumentError("expected either codes or skills, got both")


class _Testlet(Record):
    """Items that stay together."""

    items: _SomeItems
    name: str = ""
    in_order: bool = False


class _Enemies(Record):
    items: _SomeItems


class _Stop(Record):
    any: Texts


def _pilot_rule(name: str) -> Selector:
    return made_by_name("rule for pilot items", PILOT_RULES, name)


class _Pilot(Record):
    """New items that are asked to learn their parameters."""

    items: _Items
    number: Count = 1
    places: list[Count] = Field(default=[])
    by: Annotated[str, _fits(lambda _, name: _pilot_rule(name))] = "least-calibrated"
    count: bool = False
    complete: bool = True

    def pilot(self) -> PilotItems:
        """Return the pilot items."""
        return PilotItems(**self.model_dump(exclude={"by"}), rule=_pilot_rule(self.by))


def _check_pilot(bank: ItemBank, record: _Pilot) -> None:
    if problems := pilot_faults(record.pilot(), bank):
        raise InvalidArgumentError(problems)


class _Report(Record):
    skills: Annotated[list[str], _fits(_skill_bounds)] = Field(default=[])
    answers: bool = True
    parameters: bool = False
    during: bool = False
    examinee: bool = True


_ListOf = BeforeValidator(as_list)


class _DesignRecord(Record):
    """The design of a test, as a file holds it."""

    title: str = ""
    seed: Natural = 0
    prior: Annotated[Any, _fits(lambda bank, prior: prior_of(prior, bank))] = BANK_PRIOR
    parameters: Literal["learned", "averaged"] = "learned"
    start: Annotated[list[Annotated[_Start, _fits(_check_start)]], _ListOf] = Field(default=[])
    select: Annotated[_Select, or_table("by")] = _Select()
    exposure: Annotated[
        list[Annotated[_Exposure, _fits(_check_exposure)]], _ListOf, _fits(_check_exposures)
    ] = Field(default=[])
    content: _Content = _Content()
    order: Annotated[_Order, _fits(_check_order)] = _Order()
    testlet: Annotated[list[_Testlet], _ListOf] = Field(default=[])
    enemies: Annotated[list[_Enemies], _ListOf] = Field(default=[])
    stop: (
        Annotated[_Stop, or_table("any"), _fits(lambda bank, stop: stopper_by_names(stop.any))]
        | None
    ) = None
    pilot: Annotated[_Pilot, _fits(_check_pilot)] | None = None
    report: _Report = _Report()

    def testlets(self) -> list[tuple[str, _Testlet]]:
        """Return the testlets with their names; those without get a number."""
        return [(t.name or f"testlet {n}", t) for n, t in enumerate(self.testlet, start=1)]


# --- The file -------------------------------------------------------------------------------------


@checked
def read_design(
    path: str | os.PathLike[str],
    bank: ItemBank,
    *,
    selector: str | None = None,
    stop: Sequence[str] = (),
    seed: int | None = None,
    prior: str | None = None,
) -> Design:
    r"""Read the design of a test of a bank from a TOML file, or from JSON.

    Parameters
    ----------
    path
        The file.
    bank
        The item bank. The bank of the design has the testlets and enemies of the file, too.
    selector, stop, seed, prior
        Parts that the file leaves open, as at the command line, such as ``"gdi"`` and
        ``["items:10"]``; the prior is ``"uniform"``, ``"bank"``, or the path of a file.

    Raises
    ------
    ModelFileError
        If the file is not a design of this bank, no test can meet it, or it states a part that
        is given here differently. The error lists all faults with their places.
    ModelFileError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "test.toml"
    >>> _ = path.write_text('stop = ["items:2"]\n[content.skills]\nskill_2 = { min = 1 }\n')
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 0], [0, 1]], guess=0.2, slip=0.1)
    >>> read_design(path, bank).allowed(["item_1"])
    ('item_3',)
    """
    try:
        content = design_content(path)
        content = with_options(content, selector=selector, stop=stop, seed=seed, prior=prior)
        return design_from(content, bank)
    except ModelFileError as error:
        raise in_file(error, path) from error


def design_content(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content of a design file as plain values, complete in itself.

    The counts of an exposure control and the prior, if they are in files of their own, are read
    into it.

    Raises
    ------
    ModelFileError
        If the file is not TOML or JSON.
    ModelFileError
        If a file cannot be read.
    """
    text, directory = read_text(path, most=SMALL_FILE), Path(path).parent
    try:
        content = parse_table(text)
        if isinstance(content.get("exposure"), dict):
            content["exposure"] = [content["exposure"]]
        for entry in as_list(content.get("exposure", [])):
            if isinstance(entry, dict) and isinstance(entry.get("counts"), str):
                counts = read_text(directory / entry["counts"], most=SMALL_FILE)
                entry["counts"] = parse_json(counts)
        if isinstance(content.get("prior"), str):
            content["prior"] = named_prior(content["prior"], directory)
    except ModelFileError as error:
        raise in_file(error, path) from error
    return content


def with_options(
    content: Mapping[str, Any],
    *,
    selector: str | None = None,
    stop: Sequence[str] = (),
    seed: int | None = None,
    prior: str | None = None,
) -> dict[str, Any]:
    """Return the content of a design file with parts that it leaves open.

    Raises
    ------
    ModelFileError
        If the file states a part already, and another one.
    """
    select, ending = content.get("select", {}), content.get("stop", {})
    select = {"by": select} if isinstance(select, str) else select
    texts = ending.get("any") if isinstance(ending, Mapping) else ending
    columns = None if prior is None else named_prior(prior)
    by = select.get("by") if isinstance(select, Mapping) else selector
    if isinstance(by, str) and as_registered(SELECTORS, by) == as_registered(
        SELECTORS, selector or ""
    ):
        by = selector
    told = content.get("prior")
    stated = {
        "select.by": (by, selector, shown(by), selector),
        "stop": (texts and as_list(texts), [*stop] or None, shown(texts), shown([*stop])),
        "seed": (content.get("seed"), seed, shown(content.get("seed")), seed),
        "prior": (told, columns, told if isinstance(told, str) else "a table of profiles", prior),
    }
    problems = [
        f"{place}: the design has {known}, --{place.replace('select.by', 'selector')} has {given}"
        for place, (own, wanted, known, given) in stated.items()
        if wanted is not None and own not in (None, wanted)
    ]
    if problems:
        raise ModelFileError([*problems, "leave out the option, or the key in the file"], content)
    added: dict[str, Any] = {"stop": {"any": [*stop]}} if stop else {}
    if selector is not None and isinstance(select, Mapping):
        added["select"] = {**select, "by": selector}
    others = {"seed": seed, "prior": columns}
    return {**content, **added, **{key: one for key, one in others.items() if one is not None}}


# --- The parts of a design, made of its record ----------------------------------------------------


def design_from(content: Mapping[str, Any], bank: ItemBank) -> Design:
    """Return the design of a test of a bank from the content of a design file.

    Raises
    ------
    ModelFileError
        If the content is not a design of this bank, or no test can meet it. The error lists all
        faults with their places.
    """
    record = record_from_table(_DesignRecord, content, between=".", context=bank)
    text, faults = json.dumps(content, ensure_ascii=False), Faults()
    bank = prior_of(record.prior, bank)
    if record.parameters == "averaged":
        bank = bank.averaged()
    grouped = _grouped(record, bank, faults)
    stopper = stopper_by_names(record.stop.any) if record.stop else None
    length = most_items_of(stopper)
    wanted, order = record.content, record.order
    bounds = _code_bounds(bank, wanted.codes) + _skill_bounds(bank, wanted.skills)
    bounds += [group.bound() for group in wanted.groups]
    has_testlets = any(item.testlet for item in grouped.items)
    limits = [Blueprint(tuple(bounds), length)] if bounds or has_testlets else []
    for blueprint in limits if not faults.found else ():
        asked = [name for start in record.start for name in start.ask or ()]
        fitted = faults.at("content", blueprint.for_test, grouped, length)
        problems = blueprint.faults(grouped, asked) if fitted is not None and asked else ()
        faults.found += [f"start: with these items first, {problem}" for problem in problems]
    selector = _selector(record, limits, length, faults)
    if faults.found or selector is None:
        raise ModelFileError(faults.found, text)
    groups = _code_bounds(bank, order.codes or ()) + _skill_bounds(bank, order.skills or ())
    eligible = [entry.eligibility(bank) for entry in record.exposure if entry.r_max is not None]
    return Design(
        bank=replace(grouped, title=record.title or bank.title),
        selector=selector,
        stopper=stopper,
        rules=(
            Enemies(),
            *limits,
            Testlets(ordered=tuple(name for name, one in record.testlets() if one.in_order)),
            *_start_rules(record.start, bank),
            *([ContentOrder(tuple(groups))] if groups else []),
            *([StartItems(tuple(order.items))] if order.items else []),
        ),
        seed=record.seed,
        eligibility=eligible[0] if eligible else None,
        pilot=None if record.pilot is None else record.pilot.pilot(),
        report=ReportOptions(**{**dict(record.report), "skills": tuple(record.report.skills)}),
        text=text,
    )


def _grouped(record: _DesignRecord, bank: ItemBank, faults: Faults) -> ItemBank:
    """Return the bank with the testlets and enemies of the file, beside those of the bank."""
    testlet_of = {item.name: item.testlet for item in bank.items}
    enemies = {item.name: set(item.enemies) for item in bank.items}
    for number, (name, testlet) in enumerate(record.testlets(), start=1):
        for item in testlet.items:
            if testlet_of[item] not in ("", name):
                known = f"{shown(item)} is in {shown(testlet_of[item])} already"
                faults.found.append(f"testlet {number}.items: {known}")
            testlet_of[item] = name
    for number, group in enumerate(record.enemies, start=1):
        for item in group.items:
            enemies[item] |= {*group.items} - {item}
        inside = [testlet_of[item] for item in group.items if testlet_of[item]]
        faults.found += [
            f"enemies {number}.items: items of {shown(name)} stay together, so they cannot be"
            " enemies"
            for name in sorted({name for name in inside if inside.count(name) > 1})
        ]
    items = tuple(
        replace(item, testlet=testlet_of[item.name], enemies=tuple(sorted(enemies[item.name])))
        for item in bank.items
    )
    return bank if items == bank.items else replace(bank, items=items)


def _start_rules(records: Sequence[_Start], bank: ItemBank) -> list[Rule]:
    """Return the rules of the stages at the start."""
    rules: list[Rule] = []
    question = 1
    for record in records:
        if record.ask is not None:
            rules.append(StartItems(tuple(record.ask)))
        elif bounds := record.bounds(bank):
            mask = np.any([bound.members(bank) for bound in bounds], axis=0)
            names = tuple(bank.item_names[i] for i in np.flatnonzero(mask).tolist())
            rules.append(StageItems(names, question, question + (record.number or 0) - 1))
        question += record.number or len(record.ask or ())
    return rules


def _selector(
    record: _DesignRecord, limits: Sequence[Blueprint], length: int | None, faults: Faults
) -> Selector | None:
    """Return the selector with exposure control, shadow tests and the stages at the start."""
    selector = faults.at("select.by", _by_name, record.select.by, length)
    drawing = [(n, e) for n, e in zip(count(1), record.exposure) if e.method != "eligibility"]
    if record.select.shadow and drawing:
        faults.found.append(
            "select.shadow: a shadow test asks its best item; limit the exposure by"
            ' method = "eligibility"'
        )
    elif record.select.shadow:
        selector = faults.at("select.shadow", _shadow, selector, limits, length)
    for number, entry in drawing:
        selector = faults.at(f"exposure {number}", _controlled, entry, selector, length)
    stages = []
    for number, one in enumerate(record.start, start=1):
        place, own = f"start {number}", selector
        if one.ask is not None:
            own = FixedOrder(tuple(one.ask))
        elif one.select is not None:
            own = faults.at(f"{place}.select", _by_name, one.select, length)
        if one.within is not None:
            own = faults.at(f"{place}.within", _near, own, one.within)
        if own is not None:
            stages.append(Stage(own, one.number or len(one.ask or ())))
    return Staged(tuple(stages), selector) if stages and selector is not None else selector


def _near(selector: Selector | None, within: float) -> Selector:
    return Randomesque(_scoring(selector, "within"), sys.maxsize, within)


def _scoring(selector: Selector | None, what: str) -> ScoringSelector:
    if not isinstance(selector, ScoringSelector):
        raise InvalidArgumentError(
            f"{what} needs a selector that scores items, such as entropy or gdi, got"
            f" {type(selector).__name__}",
            selector,
        )
    return selector


def _controlled(entry: _Exposure, selector: Selector | None, length: int | None) -> Selector:
    scored = _scoring(selector, f"method {entry.method}")
    if entry.method == "randomesque":
        return Randomesque(scored, entry.best)
    if entry.method == "sympson-hetter":
        return SympsonHetter(scored, entry.rates)
    return Progressive(_stated(length, "the progressive method needs"), scored, entry.b)


def _shadow(selector: Selector | None, limits: Sequence[Blueprint], length: int | None) -> Selector:
    length = _stated(length, "shadow tests need")
    return ShadowTest(_scoring(selector, "a shadow test"), [*limits, Blueprint((), length)][0])
