"""The design of an adaptive test: the bank, the selector, the stopper and the rules; its file.

A design may come from a TOML file::

    [select]
    by = "gdi"

    [content.codes]
    sums = { min = 2, max = 4 }

    [stop]
    any = ["items:10", "certainty:0.95"]

The page "Designing a test" of the documentation describes all tables. pydantic is imported when
the first design is read.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, parse_json, read_text
from bnmind._messages import listed, shown
from bnmind._registry import as_registered, made_by_name
from bnmind._values import Natural, Sealed, Value, sealed
from bnmind.adaptive.bank_files import named_prior, prior_of
from bnmind.adaptive.beliefs.belief import BatchBelief, SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.pilot import (
    PILOT_RULES,
    PilotItems,
    drawn_places,
    open_pilots,
    pilot_faults,
    without_pilots,
)
from bnmind.adaptive.selection.blueprint import Blueprint, ShadowTest
from bnmind.adaptive.selection.rules import (
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
    allowed_items,
    item_mask,
    named_codes,
)
from bnmind.adaptive.selection.scores import MinimalEntropy, ScoringSelector, Selector
from bnmind.adaptive.selection.selectors import (
    LENGTH,
    SELECTORS,
    FixedOrder,
    ItemEligibility,
    Progressive,
    Randomesque,
    Stage,
    Staged,
    SympsonHetter,
    eligibility_luck,
    generator_of,
    selector_by_name,
)
from bnmind.adaptive.selection.stopping import (
    Reasons,
    Stopper,
    ending,
    most_items_of,
    rules_for_test,
    stopper_by_names,
)
from bnmind.errors import InvalidArgumentError, ModelFileError, UnknownNameError

if TYPE_CHECKING:
    from bnmind._records import Faults
    from bnmind.adaptive.records import (
        ContentRecord,
        DesignRecord,
        ExposureRecord,
        OrderRecord,
        PilotRecord,
        StartRecord,
    )


DEFAULT_RULES: tuple[Rule, ...] = (Enemies(), Testlets())
"""The default rules: no enemies together, testlets without interruption."""


@dataclass(frozen=True)
class Outlook(Value):
    """The open items of a test, or the reason why it is over."""

    allowed: tuple[str, ...]
    """The open items, in bank order."""
    stop_reason: str
    """The reason why the test is over; an empty text if it continues."""
    is_pilot: bool = field(default=False, kw_only=True)
    """Whether the open items are pilot items; see `PilotItems`."""


@dataclass(frozen=True, eq=False)
class Opening(Sealed):
    """The open items of some tests, or the reasons why the tests are over."""

    allowed: NDArray[np.bool_]
    """``(examinees, items)``, a mask of the open items."""
    reasons: Reasons
    """``(examinees,)``, the reason why each test is over; empty if it continues."""
    is_pilot: NDArray[np.bool_]
    """``(examinees,)``, whether the open items are pilot items."""

    def take(self, rows: NDArray[np.bool_]) -> Opening:
        """Return the part about some of the tests."""
        return Opening(self.allowed[rows], self.reasons[rows], self.is_pilot[rows])


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Value):
    """The parts of the report of a live test that are shown."""

    skills: tuple[str, ...] = ()
    """The skills to report; default all."""
    answers: bool = True
    """Whether to report how surprising each answer is."""
    parameters: bool = False
    """Whether to report how far the probabilities are uncertain because the parameters are."""
    during: bool = False
    """Whether the pages of ``bnmind web`` show the examinee the skills, and the reason for each
    item, while the test goes on."""
    examinee: bool = True
    """Whether these pages show the examinee the report at the end."""


@dataclass(frozen=True, eq=False)
class Design(Value):
    """The design of an adaptive test.

    Parameters
    ----------
    bank
        The item bank.
    selector
        The selector; default `MinimalEntropy`.
    stopper
        The stopper; without one the test ends when no item may be asked.
    rules
        The rules, in the order of application; default `Enemies` and `Testlets`.
    seed
        At least 0; names the random numbers of selectors that draw. With the same seed,
        the same state of a test leads to the same item. Sessions save the seed.
    eligibility
        The exposure control that draws, before the test, the items that are eligible in it. If
        too few are eligible for the length of the test or its `Blueprint`, all items are.
    pilot
        New items that are asked to learn their parameters; they are in the bank, and rules,
        selector and stopper do not see them.
    report
        The parts of the report that are shown.
    text
        The content of the file that the design was read from, as JSON; see `read_design`.
        Sessions save it.

    Raises
    ------
    InvalidArgumentError
        If no test can meet a `Blueprint` among the rules; the message says why.
    """

    bank: ItemBank
    selector: Selector = field(default_factory=MinimalEntropy)
    stopper: Stopper | None = None
    rules: tuple[Rule, ...] = DEFAULT_RULES
    seed: Natural = field(default=0, kw_only=True)
    eligibility: ItemEligibility | None = field(default=None, kw_only=True)
    pilot: PilotItems | None = field(default=None, kw_only=True)
    report: ReportOptions = field(default_factory=ReportOptions, kw_only=True)
    text: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(rules=rules_for_test(self.bank, self.rules, self.stopper))
        if self.pilot and not self._can_be_met(self.operational):
            raise InvalidArgumentError(["without the pilot items, no test can meet the minima"])

    def _faults(self) -> list[str]:
        return pilot_faults(self.pilot, self.bank) if self.pilot else []

    @property
    def _pilots(self) -> tuple[str, ...]:
        return () if self.pilot is None else self.pilot.items

    @cached_property
    def operational(self) -> NDArray[np.bool_]:
        """A mask of the items that are not pilot items, ``(items,)``."""
        return sealed(~item_mask(self.bank, self._pilots))

    @cached_property
    def is_counted(self) -> NDArray[np.bool_]:
        """A mask of the items whose answers count for the belief and the report, ``(items,)``."""
        return sealed(self.operational | (self.pilot is not None and self.pilot.count))

    @checked
    def pilots_among(self, items: Sequence[str]) -> tuple[str, ...]:
        """Return the pilot items among some items, in the same order.

        Parameters
        ----------
        items
            Names of items.
        """
        return tuple(name for name in items if name in self._pilots)

    @checked
    def counted(self, given: Mapping[str, int | str]) -> Mapping[str, int | str]:
        """Return the responses that count for the belief and the report, by item.

        Parameters
        ----------
        given
            The position or the name of each response, by item.
        """
        if self.pilot is None or self.pilot.count:
            return given
        left_out = set(self._pilots)
        return {name: response for name, response in given.items() if name not in left_out}

    @checked
    def allowed(self, asked: Sequence[str], set_aside: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the items that the rules allow to be asked next, in bank order.

        Pilot items are not among them.

        Parameters
        ----------
        asked
            The items asked, in order.
        set_aside
            The items that exposure control withholds.
        """
        available = self._available(set_aside) & self.operational
        others = without_pilots(self._positions(asked), ~self.operational)
        mask = allowed_items(self.bank, self.rules, others, available=available)
        return self._names(mask[0])

    @checked
    def outlook(
        self, belief: SkillBelief, asked: Sequence[str] = (), set_aside: Sequence[str] = ()
    ) -> Outlook:
        """Return the open items, and the reason to stop if the test is over.

        The open items are those that `allowed` returns. While the stopper waits for the
        minima of a `Blueprint`, they are the items that the minima need. At the question of a
        pilot item they are the pilot items.

        Parameters
        ----------
        belief
            The belief about the examinee.
        asked, set_aside
            As for `allowed`.
        """
        opening = openings(
            self,
            belief.batch,
            self._positions(asked),
            available=self._available(set_aside),
            places=drawn_places(self.pilot, self.seed, np.zeros(1, dtype=np.intp)),
        )
        return Outlook(
            self._names(opening.allowed[0]),
            str(opening.reasons[0]),
            is_pilot=bool(opening.is_pilot[0]),
        )

    def _positions(self, asked: Sequence[str]) -> NDArray[np.intp]:
        return np.array([[self.bank.position(name) for name in asked]], dtype=np.intp)

    def _available(self, set_aside: Sequence[str]) -> NDArray[np.bool_]:
        withheld = set(set_aside)
        available = np.array([[name not in withheld for name in self.bank.item_names]])
        return available & self._eligible

    @cached_property
    def _eligible(self) -> NDArray[np.bool_]:
        return self.eligible(0)

    @checked
    def eligible(self, examinee: int) -> NDArray[np.bool_]:
        """Return a mask of the items that are eligible in a test, ``(items,)``.

        Pilot items always are.

        Parameters
        ----------
        examinee
            The number of the examinee in a simulation; 0 for a live test.
        """
        every = np.ones(len(self.bank.items), dtype=bool)
        if self.eligibility is None:
            return every
        luck = eligibility_luck(self.seed, len(self.bank.items), examinee=examinee)
        drawn = self.eligibility.draw(luck)
        enough = drawn.sum() >= (most_items_of(self.stopper) or 1)
        return drawn | ~self.operational if enough and self._can_be_met(drawn) else every

    def _can_be_met(self, available: NDArray[np.bool_]) -> bool:
        """Return whether some test with the available items ``(items,)`` meets all rules."""
        whole = (rule for rule in self.rules if isinstance(rule, Blueprint))
        return all(rule.can_be_met(self.bank, available) for rule in whole)

    def _names(self, mask: NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(self.bank.item_names[i] for i in np.flatnonzero(mask).tolist())

    @checked
    def rng(self, step: int) -> np.random.Generator:
        """Return the generator for a question, given the number of items asked before.

        The first examinee of a simulation with the same seed has the same generators.

        Parameters
        ----------
        step
            The number of items asked before, at least 0.

        Raises
        ------
        InvalidArgumentError
            If the step is negative.
        """
        if step < 0:
            raise InvalidArgumentError(f"expected a step of at least 0, got {step}", step)
        return generator_of(self.seed, step)


def openings(
    design: Design,
    beliefs: BatchBelief,
    asked: NDArray[np.intp],
    *,
    available: NDArray[np.bool_],
    places: NDArray[np.intp],
) -> Opening:
    """Return the open items of some tests, as `Design.outlook` does of one.

    Parameters
    ----------
    design
        The design.
    beliefs
        The belief about each examinee.
    asked
        ``(examinees, questions)`` positions of the items asked, in order; `MISSING` after the
        last one.
    available
        ``(examinees, items)``, a mask of the items that may be asked at all.
    places
        As `drawn_places` returns them.
    """
    found = ending(
        design.rules,
        design.stopper,
        beliefs,
        without_pilots(asked, ~design.operational),
        available=available & design.operational,
    )
    if design.pilot is None:
        return Opening(found.allowed, found.reasons, np.zeros(len(asked), dtype=bool))
    pilots = open_pilots(
        design.pilot,
        design.bank,
        asked,
        available=available,
        allowed=found.allowed,
        ended=found.reasons != "",
        places=places,
    )
    is_pilot = np.asarray(pilots.any(axis=1))
    allowed = np.where(is_pilot[:, None], pilots, found.allowed)
    return Opening(allowed, np.where(is_pilot, "", found.reasons), is_pilot)


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
    from bnmind._records import in_file

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
    from bnmind._records import as_list, in_file, parse_table

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
    problems = []
    select = content.get("select", {})
    select = {"by": select} if isinstance(select, str) else select
    result = dict(content)
    if selector is not None and isinstance(select, Mapping):
        stated = select.get("by", selector)
        alike = isinstance(stated, str) and as_registered(SELECTORS, stated) == as_registered(
            SELECTORS, selector
        )
        if not alike:
            problems.append(
                f"select.by: the design has {shown(select['by'])}, --selector has {selector}"
            )
        result["select"] = {**select, "by": selector}
    if stop:
        given = content.get("stop", {"any": list(stop)})
        texts = given.get("any") if isinstance(given, Mapping) else given
        if ([texts] if isinstance(texts, str) else texts) != list(stop):
            problems.append(f"stop: the design has {shown(texts)}, --stop has {shown(list(stop))}")
        result["stop"] = {"any": list(stop)}
    if seed is not None:
        if content.get("seed", seed) != seed:
            problems.append(f"seed: the design has {shown(content['seed'])}, --seed has {seed}")
        result["seed"] = seed
    if prior is not None:
        columns = named_prior(prior)
        if content.get("prior", columns) != columns:
            known = content["prior"]
            told = known if isinstance(known, str) else "a table of profiles"
            problems.append(f"prior: the design has {told}, --prior has {prior}")
        result["prior"] = columns
    if problems:
        raise ModelFileError([*problems, "leave out the option, or the key in the file"], content)
    return result


# --- The parts of a design, made of its record ----------------------------------------------------


_Stage: TypeAlias = tuple[Selector | None, int, float | None]
"""The selector of a stage, None for the usual one; its length; its key ``within``."""

_KEYS_OF_METHODS = {
    "progressive": ("b", "r_max", "counts"),
    "randomesque": ("best",),
    "sympson-hetter": ("rates",),
    "eligibility": ("r_max", "counts"),
}


def design_from(content: Mapping[str, Any], bank: ItemBank) -> Design:
    """Return the design of a test of a bank from the content of a design file.

    Raises
    ------
    ModelFileError
        If the content is not a design of this bank, or no test can meet it. The error lists all
        faults with their places.
    """
    from bnmind._records import Faults, record_from_table
    from bnmind.adaptive.records import DesignRecord

    record = record_from_table(DesignRecord, content, between=".")
    text, faults = json.dumps(content, ensure_ascii=False), Faults()
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
    for skill in record.report.skills:
        if skill not in bank.skills:
            faults.found.append(f"report.skills: {UnknownNameError('skill', skill, bank.skills)}")
    if faults.found or selector is None:
        raise ModelFileError(faults.found, text)
    testlets = zip(_testlet_names(record), record.testlet, strict=True)
    ordered = tuple(name for name, testlet in testlets if testlet.in_order)
    limits = [] if blueprint is None else [blueprint]
    return Design(
        bank=replace(grouped, title=record.title or bank.title),
        selector=selector,
        stopper=stopper,
        rules=(Enemies(), *limits, Testlets(ordered=ordered), *start_rules, *order),
        seed=record.seed or 0,
        eligibility=eligibility,
        pilot=pilot,
        report=ReportOptions(**{**dict(record.report), "skills": tuple(record.report.skills)}),
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
    make = partial(PilotItems, **record.model_dump(exclude={"by"}))
    pilot = faults.at("pilot", make, rule=rule)
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
    for number, name, testlet in zip(count(1), _testlet_names(record), record.testlet):
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


def _selector(
    record: DesignRecord,
    stages: Sequence[_Stage],
    blueprint: Blueprint | None,
    length: int | None,
    faults: Faults,
) -> Selector | None:
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
        of_stage: Selector | None = own or selector
        if within is not None:
            of_stage = faults.at(f"start {number}.within", _near, of_stage, within)
        made.append(Stage(of_stage or selector, length))
    return Staged(tuple(made), selector)


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


def _controlled(entry: ExposureRecord, selector: Selector | None, length: int | None) -> Selector:
    scored = _scoring(selector, f"method {entry.method}")
    if entry.method == "randomesque":
        return Randomesque(scored) if entry.best is None else Randomesque(scored, entry.best)
    if entry.method == "sympson-hetter":
        return SympsonHetter(scored, entry.rates or {})
    length = _stated(length, "the progressive method needs")
    return Progressive(length, scored, entry.b or 0.0)


def _shadow(selector: Selector | None, blueprint: Blueprint | None, length: int | None) -> Selector:
    length = _stated(length, "shadow tests need")
    return ShadowTest(_scoring(selector, "a shadow test"), blueprint or Blueprint((), length))


def _order(record: OrderRecord, bank: ItemBank, faults: Faults) -> list[Rule]:
    wanted: list[tuple[str, CodeBound | SkillBound]] = []
    wanted += [("order.codes", CodeBound(code)) for code in record.codes or ()]
    wanted += [("order.skills", SkillBound(skill)) for skill in record.skills or ()]
    found = [faults.at(place, _of_bank, bank, bound, 0, None) for place, bound in wanted]
    groups = tuple(bound for bound in found if bound is not None)
    if record.codes and record.skills:
        faults.found.append("order: expected either codes or skills, got both")
    rules: list[Rule] = [ContentOrder(groups)] if groups else []
    if names := _known("order.items", record.items or (), bank, faults):
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
