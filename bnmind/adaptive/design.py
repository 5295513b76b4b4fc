"""The design of an adaptive test: the bank, the selector, the stopper and the rules.

A TOML file may hold a design::

    [select]
    by = "gdi"

    [content.codes]
    sums = { min = 2, max = 4 }

    [stop]
    any = ["items:10", "certainty:0.95"]

The page "Designing a test" of the documentation describes all tables. First the keys and the types
of all parts are checked, then each part is made, by itself and with the bank, and in the end all
bounds together.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, parse_json, read_text
from bnmind._messages import listed, shown
from bnmind._registry import as_registered, made_by_name
from bnmind._values import Natural, Value, sealed
from bnmind.adaptive.bank_files import named_prior, prior_of
from bnmind.adaptive.beliefs import BatchBelief, SkillBelief
from bnmind.adaptive.blueprint import Blueprint, ShadowTest
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.pilot import (
    PILOT_RULES,
    PilotItems,
    drawn_places,
    open_pilots,
    pilot_faults,
    without_pilots,
)
from bnmind.adaptive.rules import (
    Bound,
    ContentOrder,
    Enemies,
    Rule,
    StageItems,
    Testlets,
    allowed_items,
    item_mask,
)
from bnmind.adaptive.scores import MinimalEntropy, ScoringSelector, Selector
from bnmind.adaptive.selectors import (
    LENGTH,
    SELECTORS,
    FixedOrder,
    ItemEligibility,
    Progressive,
    Randomesque,
    Staged,
    SympsonHetter,
    eligibility_luck,
    generator_of,
    selector_by_name,
)
from bnmind.adaptive.stopping import (
    Ending,
    Stopper,
    ending,
    most_items_of,
    rules_for_test,
    stopper_by_names,
)
from bnmind.errors import InvalidArgumentError, ModelFileError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.adaptive.records import (
        DesignExposure,
        DesignFile,
        DesignRange,
        DesignStart,
        DesignTestlet,
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
    def rng(self, step: Natural) -> np.random.Generator:
        """Return the generator for a question, given the number of items asked before.

        The first examinee of a simulation with the same seed has the same generators.

        Parameters
        ----------
        step
            The number of items asked before.
        """
        return generator_of(self.seed, step)


def openings(
    design: Design,
    beliefs: BatchBelief,
    asked: NDArray[np.intp],
    *,
    available: NDArray[np.bool_],
    places: NDArray[np.intp],
) -> Ending:
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
        return found
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
    return Ending(allowed, np.where(is_pilot, "", found.reasons), is_pilot)


# --- Files ---------------------------------------------------------------------------------------


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
    from bnmind._records import faults_in

    with faults_in(path):
        content = design_content(path)
        content = with_options(content, selector=selector, stop=stop, seed=seed, prior=prior)
        return design_from(content, bank)


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
    from bnmind._records import as_list, faults_in, parse_table

    text, directory = read_text(path, most=SMALL_FILE), Path(path).parent
    with faults_in(path):
        content = parse_table(text)
        if isinstance(content.get("exposure"), dict):
            content["exposure"] = [content["exposure"]]
        for entry in as_list(content.get("exposure", [])):
            if isinstance(entry, dict) and isinstance(entry.get("counts"), str):
                counts = read_text(directory / entry["counts"], most=SMALL_FILE)
                entry["counts"] = parse_json(counts)
        if isinstance(content.get("prior"), str):
            content["prior"] = named_prior(content["prior"], directory)
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
    known, select = dict(content), content.get("select", {})
    known["select"] = select = select if isinstance(select, Mapping) else {"by": select}
    if isinstance(texts := known.get("stop"), str | list):
        known["stop"] = {"any": [texts] if isinstance(texts, str) else texts}
    if "by" not in select:
        del known["select"]
    columns = None if prior is None else named_prior(prior)
    given = {
        "select": None if selector is None else {**select, "by": selector},
        "stop": {"any": [*stop]} if stop else None,
        "seed": seed,
        "prior": columns,
    }
    added = {key: one for key, one in given.items() if one is not None}
    problems = [
        f"{key}: the design has {_told(known[key])}, --{'selector' if key == 'select' else key} has"
        f" {_told(one)}"
        for key, one in added.items()
        if key in known and json.dumps(known[key]).casefold() != json.dumps(one).casefold()
    ]
    if problems:
        raise ModelFileError([*problems, "leave out the option, or the key in the file"], content)
    return {**content, **added}


def _told(part: Any) -> str:
    if isinstance(part, Mapping):
        part = part.get("by") or part.get("any")
    return "a table of profiles" if part is None else shown(part)


# --- The parts of a design, made of the content of a file -----------------------------------------


def design_from(content: Mapping[str, Any], bank: ItemBank) -> Design:
    """Return the design of a test of a bank from the content of a design file.

    Raises
    ------
    ModelFileError
        If the content is not a design of this bank, or no test can meet it. The error lists all
        faults with their places.
    """
    from bnmind._records import record_from_table
    from bnmind.adaptive.records import DesignFile

    parts = _Parts(record_from_table(DesignFile, content, between="."), bank)
    design = parts.design(text := json.dumps(content, ensure_ascii=False))
    if design is None:
        raise ModelFileError(parts.faults.found, text)
    return design


class _Parts:
    """The parts of a design that a file describes, and all that is wrong with them."""

    def __init__(self, file: DesignFile, bank: ItemBank) -> None:
        from bnmind._records import Faults

        self.file, self.faults = file, Faults()
        self.at, self.tell = self.faults.at, self.faults.tell
        changed = self.at("prior", prior_of, file.prior, bank) or bank
        self.bank = changed.averaged() if file.parameters == "averaged" else changed
        self.stopper = self.at("stop", stopper_by_names, file.stop.any if file.stop else ())
        self.length = most_items_of(self.stopper)
        if file.stop and self.stopper is None:
            self.length = 1  # a fault by now, and no other one for what needs a length

    def design(self, text: str) -> Design | None:
        """Return the design; None if something is wrong."""
        file, content, order = self.file, self.file.content, self.file.order
        bounds = self.bounds("content.codes", "code", content.codes)
        bounds += self.bounds("content.skills", "skill", content.skills)
        for number, group in enumerate(content.groups, 1):
            place = f"content.groups {number}"
            items = self.items(f"{place}.items", group.items)
            bound = self.at(place, Bound, group.min, group.max, items=items, name=group.name)
            bounds += [] if bound is None else [bound]
        grouped = self.grouped()
        has_testlets = any(item.testlet for item in grouped.items)
        limits = [Blueprint(tuple(bounds), self.length)] if bounds or has_testlets else []
        groups = self.bounds("order.codes", "code", order.codes or ())
        groups += self.bounds("order.skills", "skill", order.skills or ())
        if order.codes and order.skills:
            self.tell("order", "expected either codes or skills, got both")
        first = self.items("order.items", order.items or ())
        selector = self.selector(limits)
        starts, selector = self.starts(selector)
        eligibility, pilot = self.eligibility(), self.pilot()
        self.bounds("report.skills", "skill", file.report.skills)
        if not self.faults.found:
            self.check_limits(limits, grouped)
        if self.faults.found or selector is None:
            return None
        ordered = tuple(name for name, one in self.testlets() if one.in_order)
        return Design(
            bank=replace(grouped, title=file.title or self.bank.title),
            selector=selector,
            stopper=self.stopper,
            rules=(
                *(Enemies(), *limits, Testlets(ordered=ordered), *starts),
                *([ContentOrder(tuple(groups))] if groups else []),
                *([ContentOrder(first)] if first else []),
            ),
            seed=file.seed,
            eligibility=eligibility,
            pilot=pilot,
            report=ReportOptions(**file.report.model_dump()),
            text=text,
        )

    def items(self, place: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names of items; none if one is wrong."""
        return self.at(place, _known_items, self.bank, names) or ()

    def bounds(
        self, place: str, kind: str, given: Mapping[str, DesignRange] | Sequence[str]
    ) -> list[Bound]:
        """Return the bounds for codes or skills, given with or without ranges."""
        return self.at(place, _bounds, self.bank, kind, given) or []

    def testlets(self) -> list[tuple[str, DesignTestlet]]:
        """Return the testlets with their names; those without get a number."""
        return [(t.name or f"testlet {n}", t) for n, t in enumerate(self.file.testlet, 1)]

    def grouped(self) -> ItemBank:
        """Return the bank with the testlets and enemies of the file, beside those of the bank."""
        testlet_of = {item.name: item.testlet for item in self.bank.items}
        enemies = {item.name: set(item.enemies) for item in self.bank.items}
        for number, (name, testlet) in enumerate(self.testlets(), 1):
            place = f"testlet {number}.items"
            for item in self.items(place, testlet.items):
                if (known := testlet_of[item]) not in ("", name):
                    self.tell(place, f"{shown(item)} is in {shown(known)} already")
                testlet_of[item] = name
        for number, group in enumerate(self.file.enemies, 1):
            place = f"enemies {number}.items"
            names = self.items(place, group.items)
            inside = [testlet_of[item] for item in names if testlet_of[item]]
            for name in sorted({name for name in inside if inside.count(name) > 1}):
                told = f"items of {shown(name)} stay together, so they cannot be enemies"
                self.tell(place, told)
            for item in names:
                enemies[item] |= {*names} - {item}
        items = tuple(
            replace(item, testlet=testlet_of[item.name], enemies=tuple(sorted(enemies[item.name])))
            for item in self.bank.items
        )
        return self.bank if items == self.bank.items else replace(self.bank, items=items)

    def check_limits(self, limits: Iterable[Blueprint], bank: ItemBank) -> None:
        """Collect the reasons why no test can meet the bounds."""
        asked = [name for start in self.file.start for name in start.ask or ()]
        for one in limits:
            fitted = self.at("content", one.for_test, bank, self.length)
            problems = fitted.faults(bank, asked) if fitted is not None and asked else ()
            for problem in problems:
                self.tell("start", f"with these items first, {problem}")

    def selector(self, limits: Sequence[Blueprint]) -> Selector | None:
        """Return the selector with exposure control and shadow tests."""
        select, length = self.file.select, self.length
        drawing = [(n, e) for n, e in enumerate(self.file.exposure, 1) if e.method != "eligibility"]
        selector = self.at("select.by", _by_name, select.by, length)
        if len(drawing) > 1:
            self.tell("exposure", "only one method can choose among the scored items")
        elif select.shadow and drawing:
            told = 'a shadow test asks its best item; limit the exposure by method = "eligibility"'
            self.tell("select.shadow", told)
        elif selector is not None and select.shadow:
            return self.at("select.shadow", _shadow, selector, limits, length)
        elif selector is not None and drawing:
            number, entry = drawing[0]
            return self.at(f"exposure {number}", _controlled, entry, selector, length)
        return selector

    def starts(self, then: Selector | None) -> tuple[list[Rule], Selector | None]:
        """Return the rules of the stages at the start, and the selector with those of stages."""
        rules: list[Rule] = []
        stages: list[tuple[Selector, int]] = []
        question = 1
        for number, one in enumerate(self.file.start, 1):
            place = f"start {number}"
            given = one.model_fields_set
            last = question + (one.number or len(one.ask or ".")) - 1
            own, names = then, self.among(place, one)
            if one.ask is not None and len(given) > 1:
                self.tell(place, "ask stands alone, without any other key")
            elif one.ask is None and one.number is None:
                self.tell(place, "expected ask, or the number of items in this stage")
            elif given == {"number"}:
                self.tell(place, "expected select, items, codes or skills")
            if one.ask is not None:
                own = FixedOrder(first := self.items(f"{place}.ask", one.ask))
                rules += [ContentOrder(first)] if first else []
            elif one.select is not None:
                own = self.at(f"{place}.select", _by_name, one.select, self.length)
            if one.within is not None and own is not None:
                own = self.at(f"{place}.within", _near, own, one.within)
            rules += [StageItems(names, question, last)] if names else []
            stages += [(own, last + 1 - question)] if own is not None else []
            question = last + 1
        return rules, Staged(tuple(stages), then) if stages and then is not None else then

    def among(self, place: str, stage: DesignStart) -> tuple[str, ...]:
        """Return the items among which a stage chooses; none for all items."""
        names = self.items(f"{place}.items", stage.items or ())
        groups = [Bound(items=names)] if names else []
        groups += self.bounds(f"{place}.codes", "code", stage.codes or ())
        groups += self.bounds(f"{place}.skills", "skill", stage.skills or ())
        masks = [group.members(self.bank) for group in groups]
        inside = np.any(masks, axis=0) if masks else np.zeros(len(self.bank.items), dtype=bool)
        return tuple(self.bank.item_names[i] for i in np.flatnonzero(inside).tolist())

    def eligibility(self) -> ItemEligibility | None:
        """Return the exposure control that draws the items of a test before it."""
        found = []
        for number, entry in enumerate(self.file.exposure, 1):
            place = f"exposure {number}"
            self.items(f"{place}.rates", [*entry.rates])
            found.append(self.at(place, _eligibility, self.bank, entry))
        some = [one for one in found if one is not None]
        if len(some) > 1:
            self.tell("exposure", "expected one r_max, got more")
        return some[0] if some else None

    def pilot(self) -> PilotItems | None:
        """Return the pilot items."""
        if (given := self.file.pilot) is None:
            return None
        rule = self.at("pilot.by", made_by_name, "rule for pilot items", PILOT_RULES, given.by)
        if not self.items("pilot.items", given.items) or rule is None:
            return None
        pilot = self.at("pilot", PilotItems, **given.model_dump(exclude={"by"}), rule=rule)
        for fault in pilot_faults(pilot, self.bank) if pilot is not None else ():
            self.tell("pilot", fault)
        return pilot


def _known_items(bank: ItemBank, names: Sequence[str]) -> tuple[str, ...]:
    """Return names; raise an error unless they are those of items, all different."""
    unknown = list(dict.fromkeys(name for name in names if name not in bank.item_names))
    if len(unknown) == 1:
        raise UnknownNameError("item", unknown[0], bank.item_names)
    if unknown:
        some = ", ".join(map(shown, unknown[:5])) + (", …" if len(unknown) > 5 else "")
        raise InvalidArgumentError(f"the bank has no items {some}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidArgumentError([f"{shown(name)} is there twice" for name in twice])
    return tuple(names)


def _bounds(
    bank: ItemBank, kind: str, given: Mapping[str, DesignRange] | Sequence[str]
) -> list[Bound]:
    bounds = []
    for name in dict.fromkeys(given):
        ends = (given[name].min, given[name].max) if isinstance(given, Mapping) else (0, None)
        bounds.append(Bound(*ends, code=name) if kind == "code" else Bound(*ends, skill=name))
        bounds[-1].members(bank)  # raises if there are none of this name
    return bounds


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


def _near(selector: Selector, within: float) -> Selector:
    return Randomesque(_scoring(selector, "within"), sys.maxsize, within)


def _scoring(selector: Selector, what: str) -> ScoringSelector:
    if not isinstance(selector, ScoringSelector):
        raise InvalidArgumentError(
            f"{what} needs a selector that scores items, such as entropy or gdi, got"
            f" {type(selector).__name__}",
            selector,
        )
    return selector


def _controlled(entry: DesignExposure, selector: Selector, length: int | None) -> Selector:
    scored = _scoring(selector, f"method {entry.method}")
    if entry.method == "randomesque":
        return Randomesque(scored, entry.best)
    if entry.method == "sympson-hetter":
        return SympsonHetter(scored, entry.rates)
    return Progressive(_stated(length, "the progressive method needs"), scored, entry.b)


def _shadow(selector: Selector, limits: Sequence[Blueprint], length: int | None) -> Selector:
    length = _stated(length, "shadow tests need")
    return ShadowTest(_scoring(selector, "a shadow test"), [*limits, Blueprint((), length)][0])


_KEYS_OF_METHODS = {
    "progressive": ("b", "r_max", "counts"),
    "randomesque": ("best",),
    "sympson-hetter": ("rates",),
    "eligibility": ("r_max", "counts"),
}


def _eligibility(bank: ItemBank, entry: DesignExposure) -> ItemEligibility | None:
    """Return the exposure control that draws the items of a test before it, if there is one."""
    own = _KEYS_OF_METHODS[entry.method]
    if other := [key for key in entry.model_fields_set if key not in ("method", *own)]:
        raise InvalidArgumentError(f"{entry.method} has no key {other[0]}; it has {listed(own)}")
    if entry.r_max is None:
        if entry.method == "eligibility" or entry.counts is not None:
            raise InvalidArgumentError("r_max is missing, the largest share of tests of an item")
        return None
    if entry.counts is None:
        return ItemEligibility.start(bank, entry.r_max)
    if not isinstance(entry.counts, Mapping) or set(entry.counts) != set(bank.item_names):
        raise InvalidArgumentError(
            "counts: expected for each item of the bank the numbers of tests in which it was"
            " eligible and was asked, as bnmind simulate writes them"
        )
    if wrong := [name for name, pair in entry.counts.items() if len(pair) != 2]:
        raise InvalidArgumentError(f"counts: expected two numbers for {listed(wrong)}")
    pairs = np.array([entry.counts[name] for name in bank.item_names], dtype=np.float64)
    return ItemEligibility(entry.r_max, pairs[:, 0], pairs[:, 1])
