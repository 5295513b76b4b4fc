"""The option ``--design``, and designs completed by other options."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bnmind._files import write_file
from bnmind._messages import counted, listed
from bnmind._registry import as_registered
from bnmind.cli.adaptive.options import DEFAULT_SELECTOR
from bnmind.cli.shared.terminal import printable, say
from bnmind.errors import BnmindError, InvalidModelError

if TYPE_CHECKING:
    from bnmind.adaptive import Design, ItemBank, SimulationResult

__all__ = [
    "DesignOption",
    "PriorOption",
    "counts_written",
    "designs_of",
    "say_pilots_left_out",
    "tell_exposure",
    "with_named_prior",
]

DesignOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The design of the test as TOML: start, selector, exposure, content, testlets,"
        " enemies, stop. Other options may only add what it leaves open.",
    ),
]

PriorOption: TypeAlias = Annotated[
    str | None,
    "bank|uniform|FILE",
    typer.Option(
        help="The distribution of the skills before the first answer: that of the bank, or all"
        " profiles equally probable (the default of cdcatR), or a CSV file with a column for each"
        " skill and a column probability or count. [default: bank]",
    ),
]


def with_named_prior(bank: ItemBank, prior: str | None) -> ItemBank:
    """Return a bank with the prior of the option, which names it or its file."""
    from bnmind.adaptive.items.priors import named_prior, prior_of

    if prior is None:
        return bank
    try:
        return prior_of(named_prior(prior), bank)
    except InvalidModelError as fault:
        raise BnmindError(f"--prior {prior}: {fault}") from fault


def say_pilots_left_out(design: Design) -> None:
    """Report that the new items of a design are no part of a tree or an exact evaluation."""
    if design.pilot is None:
        return
    names = listed(design.pilot.items).replace("; ", ", ")
    say(
        f"note: the new items {printable(names)} are left out; the results are those of the test"
        " of the other items"
    )


def counts_written(designs: Mapping[str, Design], directory: Path) -> tuple[Path, ...]:
    """Write the counts of exposure controls, for the key ``counts`` of designs."""
    texts = {}
    for number, design in enumerate(designs.values(), start=1):
        if design.eligibility is not None:
            pairs = zip(
                design.bank.item_names,
                design.eligibility.eligible.tolist(),
                design.eligibility.asked.tolist(),
                strict=True,
            )
            content = {name: [int(eligible), int(asked)] for name, eligible, asked in pairs}
            name = "counts.json" if len(designs) == 1 else f"counts-{number}.json"
            texts[directory / name] = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    for path, text in texts.items():
        write_file(path, text)
    return tuple(texts)


def tell_exposure(result: SimulationResult, designs: Mapping[str, Design]) -> None:
    """Print a note on each design whose items exceed the largest exposure that it allows."""
    for name, design in designs.items():
        if design.eligibility is not None:
            limit, exposure = design.eligibility.limit, result.run_of(name).exposure
            error = math.sqrt(limit * (1 - limit) / len(result))
            if n := int((exposure > limit + 2 * error).sum()):
                most = printable(result.items[int(exposure.argmax())])
                say(
                    f"note: {name} asks {counted(n, 'item')} more often than r_max {limit:g} and"
                    f" two standard errors ({error:.3f} each), {most} most ({exposure.max():.3f})"
                )


def designs_of(
    path: Path,
    bank: ItemBank,
    selectors: Sequence[str],
    *,
    stop: Sequence[str],
    seed: int | None,
    prior: str | None,
) -> dict[str, Design]:
    """Return the design in a file, by the name of its selector, and one for each other selector.

    The designs of the other selectors differ from that in the file in nothing else. A file that
    names no selector leaves the choice to the others, if there are any.
    """
    from bnmind.adaptive import SELECTORS, read_design, selector_by_name
    from bnmind.adaptive.sessions.design_file import design_content, design_from, with_options

    content = design_content(path)
    select = content.get("select", {})
    stated = select if isinstance(select, str) else select.get("by")
    names = [as_registered(SELECTORS, name) for name in selectors]
    if stated is not None:
        own = as_registered(SELECTORS, stated)
        others = [name for name in names if name != own]
        for name in others:
            selector_by_name(name)  # a wrong one is no fault of the file
        if others:
            say(f"note: the selector of the design, {printable(own)}, is compared, too")
        designs = {stated: read_design(path, bank, stop=stop, seed=seed, prior=prior)}
        content = with_options(content, stop=stop, seed=seed, prior=prior)
        shared = {} if isinstance(select, str) else select
        for name in others:
            designs[name] = design_from({**content, "select": {**shared, "by": name}}, bank)
        return designs
    if not names:
        return {DEFAULT_SELECTOR: read_design(path, bank, stop=stop, seed=seed, prior=prior)}
    return {
        name: read_design(path, bank, selector=name, stop=stop, seed=seed, prior=prior)
        for name in names
    }
