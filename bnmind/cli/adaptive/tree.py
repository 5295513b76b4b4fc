"""``bnmind tree``: the best test of a bank, as a tree, a list or a panel, and as a paper test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._messages import counted
from bnmind.cli.adaptive.designs import (
    DesignOption,
    PriorOption,
    say_pilots_left_out,
    with_named_prior,
)
from bnmind.cli.adaptive.options import SelectorName, StopNames
from bnmind.cli.adaptive.tree_text import (
    expected_lines,
    loss_text,
    numbers_of,
    numbers_of_list,
)
from bnmind.cli.shared.command import Count, Described, Json, OneOf, Share, check_place
from bnmind.cli.shared.terminal import (
    INTERRUPTED,
    Report,
    say,
    tell,
    tell_json,
    until_interrupted,
    working,
)
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.adaptive import ItemBank
    from bnmind.adaptive.trees import FixedTest, ItemTree, OptimalTest, Panel
    from bnmind.adaptive.trees.aims import Aim
    from bnmind.questions.trees import SearchBounds

__all__ = ["tree"]

DEFAULT_DEPTH = 5


def _aims() -> Mapping[str, Described]:
    from bnmind.adaptive import AIMS
    from bnmind.adaptive.trees.aims import CostOfCertainty

    cost = AIMS["cost"]
    about = f"{cost.about}; a test that ends without pays {CostOfCertainty.penalty:g} more"
    return {**AIMS, "cost": replace(cost, about=about)}


@dataclass(frozen=True)
class TreeOptions:
    """The options of the command.

    Parameters
    ----------
    bank
        The file of the item bank.
    depth
        Ask at most N items. [default: 5]
    minimize
        What to minimize, from the list below. [default: entropy]
    price
        The price of one unit of the cost of items, in the unit of the aim; the test ends early
        where no item is worth it.
    fixed
        Find the best list of --depth items instead of a tree.
    panel
        Find a multi-stage test instead: the number of items of a module of each stage.
    routes
        The most routes after a module of a panel. [default: 2]
    selector
        Write the tree of a selector, without a search. The selector, from the list below.
    max_beliefs
        End the search before it keeps more beliefs. [default: 4,000,000]
    out
        Write the tree, in a format from the list below.
    """

    bank: Path
    _: KW_ONLY
    depth: Count | None = None
    minimize: Annotated[str | None, "AIM", OneOf(f"{__name__}:_aims", "Aims")] = None
    price: Share | None = None
    fixed: bool = False
    panel: Annotated[str | None, "N,N"] = None
    routes: Count | None = None
    selector: SelectorName | None = None
    design: DesignOption = None
    stop: StopNames = None
    prior: PriorOption = None
    max_beliefs: Count | None = None
    out: Annotated[Path | None, OneOf("bnmind.adaptive:ITEM_TREE_FORMATS", "Formats of trees")] = (
        None
    )
    as_json: Json = False


def tree(options: TreeOptions) -> None:
    """Find the best adaptive test of a bank, with a proof, and write it as a paper test.

    The test is a tree: each response to an item leads to the next item. The command searches for
    the tree of at most --depth items whose expected entropy, loss or cost is smallest, and shows
    what the greedy test loses, which asks the most informative item each time. Ctrl-C ends the
    search with the best tree so far, and says how far it may be from the best one.

    --fixed finds the best list of items instead, for a test in which everybody answers the same
    items. --panel finds a multi-stage test: modules of items, and the next module by the points in
    the last one. --selector and --design write the tree of a selector or a design, without a
    search.

    Examples
    --------
    bnmind tree models/banks/fraction-subtraction.json --depth 5
    bnmind tree BANK.json --depth 4 --out test.html
    bnmind tree BANK.json --minimize cost:0.9 --depth 6 --out tree.svg
    bnmind tree BANK.json --fixed --depth 10
    bnmind tree BANK.json --panel 3,2 --routes 3 --out panel.md
    bnmind tree BANK.json --selector gdi --stop items:6 --out tree.json
    """
    from bnmind.adaptive import ITEM_TREE_FORMATS, read_bank
    from bnmind.adaptive.trees import write_item_tree

    _check(options)
    if options.out is not None:
        check_place(options.out, tuple(ITEM_TREE_FORMATS), "tree")
    bank = read_bank(options.bank)
    if options.design is None:
        bank = with_named_prior(bank, options.prior)
    follows = options.selector is not None or options.design is not None
    if not follows:
        _say_neglected(bank)
    if follows:
        found = _of_selector(options, bank)
    elif options.panel is not None:
        found = _panel(options, bank)
    elif options.fixed:
        found = _fixed(options, bank)
    else:
        found = _best(options, bank)
    if found.interrupted:
        say("interrupted; the best found so far follows")
    if options.out is not None and found.tree is not None:
        write_item_tree(found.tree, options.out)
        found.report["file"] = str(options.out)
    if options.as_json:
        tell_json(found.report)
    else:
        tell("\n".join(found.lines))
        if options.out is not None and found.tree is not None:
            tell(f"Written: {options.out} ({counted(found.tree.n_nodes, 'point')}).")
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)


@dataclass(frozen=True, eq=False)
class _Found:
    """A test that was found, and what is reported of it."""

    tree: ItemTree | None
    report: dict[str, object]
    lines: list[str]
    interrupted: bool = False


def _say_neglected(bank: ItemBank) -> None:
    """Name the properties of the items that the searches do not consider."""
    has_testlets = any(item.testlet for item in bank.items)
    has_content = any(item.content for item in bank.items)
    if named := ["testlets"] * has_testlets + ["content codes"] * has_content:
        say(f"note: the search does not consider the {' and '.join(named)} of the bank")


def _check(options: TreeOptions) -> None:
    kinds = {
        "--fixed": options.fixed,
        "--panel": options.panel is not None,
        "--selector or --design": options.selector is not None or options.design is not None,
    }
    named = [name for name, given in kinds.items() if given]
    if len(named) > 1:
        raise BnmindError(f"expected one of {', '.join(kinds)}, got {' and '.join(named)}")
    follows = options.selector is not None or options.design is not None
    if options.stop and not follows:
        raise BnmindError("--stop goes with --selector or --design; the search takes --depth")
    searched = {
        "--minimize": options.minimize is not None,
        "--price": options.price is not None,
        "--depth": options.depth is not None,
    }
    if follows and any(searched.values()):
        names = [name for name, given in searched.items() if given]
        raise BnmindError(
            f"--selector and --design search for nothing; leave out {' and '.join(names)}"
        )
    if options.panel is not None and options.depth is not None:
        raise BnmindError("--panel says how many items are asked; leave out --depth")
    if options.routes is not None and options.panel is None:
        raise BnmindError("--routes goes with --panel")
    if options.price is not None and not options.price >= 0:
        raise BnmindError(f"expected --price of at least 0, got {options.price:g}")
    _aim(options)  # raises before any output


def _aim(options: TreeOptions) -> Aim:
    from bnmind.adaptive.trees.aims import aim_by_name

    return aim_by_name(options.minimize or "entropy")


def _best(options: TreeOptions, bank: ItemBank) -> _Found:
    from bnmind.adaptive import optimal_test_tree
    from bnmind.questions.trees.search import DEFAULT_BELIEFS

    depth, aim = options.depth or DEFAULT_DEPTH, _aim(options)

    def work(report: Report, ended: Callable[[], bool]) -> OptimalTest:
        def until(known: SearchBounds) -> bool:
            report(known.n_beliefs, None)
            return ended()

        return optimal_test_tree(
            bank,
            depth,
            aim=aim,
            price=options.price or 0.0,
            max_beliefs=options.max_beliefs or DEFAULT_BELIEFS,
            until=until,
        )

    found, interrupted = until_interrupted("searching for the best tree", work)
    best = found.tree
    proof = (
        "Proven: no test is better."
        if found.is_proven
        else f"Not proven: no test is below {found.lower:.6f}; the gap is {found.gap:.6f}."
    )
    unit = aim.unit
    lines = [
        f"Best test of at most {counted(depth, 'item')}: {found.value:.6f} {unit}. {proof}",
        "Searched"
        f" {counted(found.n_beliefs, 'belief')}, followed the items of {found.n_expanded:,}.",
        f"Greedy test: {found.greedy_value:.6f} {unit}; {loss_text(found)}.",
        *expected_lines(numbers_of(best), bank),
        f"First item: {best.root.item}" if best.root.item else "No item is worth asking.",
    ]
    report: dict[str, object] = {
        "depth": depth,
        "value": found.value,
        "unit": unit,
        "lower_bound": found.lower,
        "proven": found.is_proven,
        "greedy_value": found.greedy_value,
        "regret": found.regret,
        "beliefs": found.n_beliefs,
        "expanded": found.n_expanded,
        **numbers_of(best),
    }
    return _Found(best, report, lines, interrupted)


def _fixed(options: TreeOptions, bank: ItemBank) -> _Found:
    from bnmind.adaptive import fixed_test
    from bnmind.adaptive.trees import fixed_tree

    depth, aim = options.depth or DEFAULT_DEPTH, _aim(options)

    def work(report: Report, ended: Callable[[], bool]) -> FixedTest:
        def until(lists: int, _: float) -> bool:
            report(lists, None)
            return ended()

        return fixed_test(bank, depth, aim=aim, price=options.price or 0.0, until=until)

    found, interrupted = until_interrupted("searching for the best list", work)
    numbers = numbers_of_list(bank, found.items)
    proof = (
        "Proven: no list is better."
        if found.is_proven
        else f"Not proven: no list is below {found.lower:.6f}."
    )
    lines = [
        f"Best list of {counted(depth, 'item')}: {found.value:.6f} {aim.unit}. {proof}",
        f"Searched {counted(found.n_lists, 'list')}.",
        f"Greedy list: {found.greedy_value:.6f} {aim.unit}; {loss_text(found)}.",
        *expected_lines(numbers, bank),
        f"Items: {', '.join(found.items)}",
    ]
    report: dict[str, object] = {
        "items": list(found.items),
        "value": found.value,
        "unit": aim.unit,
        "lower_bound": found.lower,
        "proven": found.is_proven,
        "greedy_items": list(found.greedy),
        "greedy_value": found.greedy_value,
        "regret": found.regret,
        "lists": found.n_lists,
        **numbers,
    }
    best = None if options.out is None else fixed_tree(bank, found.items)
    return _Found(best, report, lines, interrupted)


def _panel(options: TreeOptions, bank: ItemBank) -> _Found:
    from bnmind.adaptive import panel_test

    assert options.panel is not None
    try:
        lengths = [int(part) for part in options.panel.split(",")]
    except ValueError:
        raise BnmindError(
            f"expected --panel as numbers of items, such as 3,2, got {options.panel!r}"
        ) from None
    aim = _aim(options)
    found: Panel = working(
        "choosing modules",
        lambda _: panel_test(
            bank, lengths, routes=options.routes or 2, aim=aim, price=options.price or 0.0
        ),
    )
    modules = list(found.root)
    number = {id(module): place for place, module in enumerate(modules, start=1)}
    lines = [f"Panel of {counted(len(modules), 'module')}: {found.value:.6f} {aim.unit}."]
    lines += expected_lines(numbers_of(found.tree), bank)
    listed = []
    for module in modules:
        lines.append(f"Module {number[id(module)]}: {', '.join(module.items)}")
        routes = [(r.least, r.most, number[id(r.module)]) for r in module.routes]
        for least, most, to in routes:
            points = f"{least}" if least == most else f"{least} to {most}"
            points += " point" if most == 1 == least else " points"
            lines.append(f"  {points}: go to module {to}")
        listed.append({"items": list(module.items), "routes": [list(route) for route in routes]})
    report: dict[str, object] = {
        "value": found.value,
        "unit": aim.unit,
        "modules": listed,
        **numbers_of(found.tree),
    }
    return _Found(found.tree, report, lines)


def _of_selector(options: TreeOptions, bank: ItemBank) -> _Found:
    from bnmind.adaptive import (
        Design,
        design_tree,
        read_design,
        selector_by_name,
        stopper_by_names,
    )

    if options.design is not None:
        design = read_design(
            options.design,
            bank,
            selector=options.selector,
            stop=options.stop or (),
            prior=options.prior,
        )
        say_pilots_left_out(design)
    else:
        assert options.selector is not None
        selector = selector_by_name(options.selector)
        design = Design(bank, selector, stopper_by_names(options.stop or []))
    name = options.selector or str(options.design)
    found: ItemTree = working("following the selector", lambda _: design_tree(design))
    lines = [f"The test of {name}:", *expected_lines(numbers_of(found), bank)]
    return _Found(found, {"test_of": name, **numbers_of(found)}, lines)
