"""``bnmind evaluate``: the expected results of a test, computed without simulated examinees."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bnmind._messages import counted, percent
from bnmind.cli.adaptive.designs import (
    DesignOption,
    PriorOption,
    say_pilots_left_out,
    with_named_prior,
)
from bnmind.cli.adaptive.options import DEFAULT_SELECTOR, SelectorName, StopNames, check_shares
from bnmind.cli.shared.command import Count, Json, Share
from bnmind.cli.shared.terminal import (
    INTERRUPTED,
    plain_table,
    say,
    show_table,
    tell_json,
    terminal,
    until_interrupted,
)

if TYPE_CHECKING:
    from bnmind.adaptive import ItemBank
    from bnmind.adaptive.trees import CertifiedInterval, DesignEvaluation

__all__ = ["evaluate"]


@dataclass(frozen=True)
class EvaluateOptions:
    """The options of the command.

    Parameters
    ----------
    bank
        The file of the item bank.
    min_probability
        Do not follow beliefs that are reached with a smaller probability.
    max_beliefs
        Evaluate at most N beliefs, the most probable ones. [default: 1,048,576]
    """

    bank: Path
    _: KW_ONLY
    design: DesignOption = None
    selector: SelectorName | None = None
    stop: StopNames = None
    prior: PriorOption = None
    min_probability: Share = 0.0
    max_beliefs: Count | None = None
    as_json: Json = False


def evaluate(options: EvaluateOptions) -> None:
    """Compute the expected results of an adaptive test exactly, without simulation.

    A selector that draws no random numbers makes a test a tree: each response leads to the next
    item. The command follows all paths of the tree, weighted by their probabilities in the bank,
    and reports the expected accuracy, entropy, length and cost of the whole test, and how often
    each item is asked.

    If the tree is too large, it is cut at its least probable beliefs. All results are then
    intervals that certainly contain the exact values. Ctrl-C cuts it where the evaluation is.

    Examples
    --------
    bnmind evaluate models/banks/fractions.json --stop items:10
    bnmind evaluate BANK.json --selector gdi --stop certainty:0.9 --stop items:12 --json
    bnmind evaluate BANK.json --design DESIGN.toml
    bnmind evaluate BANK.json --stop items:20 --min-probability 1e-5
    """
    from bnmind.adaptive import (
        Design,
        evaluate_design,
        read_bank,
        read_design,
        selector_by_name,
        stopper_by_names,
    )
    from bnmind.adaptive.trees.evaluation import DEFAULT_BELIEFS

    check_shares({"--min-probability": options.min_probability})
    bank = read_bank(options.bank)
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
        bank = with_named_prior(bank, options.prior)
        selector = selector_by_name(options.selector or DEFAULT_SELECTOR)
        design = Design(bank, selector, stopper_by_names(options.stop or []))
    result, interrupted = until_interrupted(
        "evaluating the test",
        lambda report, ended: evaluate_design(
            design,
            min_probability=options.min_probability,
            max_beliefs=options.max_beliefs or DEFAULT_BELIEFS,
            progress=report,
            until=ended,
        ),
    )
    if interrupted:
        say("interrupted; the tree is cut here, and the results so far are intervals")
    if options.as_json:
        tell_json(evaluation_as_json(result))
    else:
        _show(result, bank)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


_ROWS = (
    ("pattern_accuracy", "profiles classified right"),
    ("attribute_accuracy", "skills classified right"),
    ("entropy", "entropy of the skills, bits"),
    ("length", "items asked"),
    ("cost", "cost of the items asked"),
)
_ROWS_OF_AN_ABILITY = ("length", "cost")
"""The rows for a bank of one ability: the others would be about points of its grid."""


def _show(result: DesignEvaluation, bank: ItemBank) -> None:
    from bnmind.adaptive.beliefs.ability_estimates import has_ability

    console = terminal()
    beliefs = counted(result.n_beliefs, "belief")
    if result.is_exact:
        merged = f", {result.n_merged:,} merged" if result.n_merged else ""
        console.print(f"Exact, from {beliefs}{merged}. Expected at the end of the test:")
    else:
        console.print(
            f"Cut after {beliefs}: {_percent(result.evaluated)} of all tests were followed to the"
            " end. The exact values are between:",
            soft_wrap=True,
        )
    exact = result.is_exact
    table = plain_table("", "") if exact else plain_table("", "least", "most")
    of_skills = not has_ability(bank)
    for name, label in _ROWS:
        if of_skills or name in _ROWS_OF_AN_ABILITY:
            table.add_row(label, *_numbers(getattr(result, name), exact=exact))
        if of_skills and name == "attribute_accuracy":
            for skill, accuracy in result.skill_accuracy.items():
                table.add_row(f"  {skill}", *_numbers(accuracy, exact=exact))
    show_table(console, table)
    console.print("Items by how often they are asked:")
    table = plain_table("", "") if exact else plain_table("", "least", "most")
    ranked = sorted(result.exposure.items(), key=lambda pair: -pair[1].middle)
    asked = [pair for pair in ranked if pair[1].high > 0]
    for item, share in asked:
        table.add_row(item, *(_percent(p) for p in (share[:1] if exact else share)))
    show_table(console, table)
    if len(asked) < len(ranked):
        console.print(f"Never asked: {counted(len(ranked) - len(asked), 'item')}.")
    for reason, chance in result.reasons.items():
        console.print(f"Ends because {reason}: {_percent(chance)}", soft_wrap=True)
    if not of_skills:
        console.print("bnmind simulate estimates how exactly the test measures the ability.")


def _numbers(interval: CertifiedInterval, *, exact: bool) -> tuple[str, ...]:
    return tuple(f"{number:.4f}" for number in (interval[:1] if exact else interval))


def _percent(share: float) -> str:

    return percent(round(share, 9))  # sums of probabilities may miss 1 by rounding


def evaluation_as_json(result: DesignEvaluation) -> dict[str, object]:
    """Return an evaluation as JSON; intervals are pairs."""
    return {
        "exact": result.is_exact,
        "evaluated": result.evaluated,
        **{name: list(getattr(result, name)) for name, _ in _ROWS},
        "skill_accuracy": {name: list(pair) for name, pair in result.skill_accuracy.items()},
        "exposure": {name: list(pair) for name, pair in result.exposure.items()},
        "lengths": result.lengths.tolist(),
        "reasons": dict(result.reasons),
        "by_items_asked": {
            name: {"low": low.tolist(), "high": high.tolist()}
            for name, (low, high) in (
                (name, result.curve(name))
                for name in ("pattern_accuracy", "attribute_accuracy", "entropy")
            )
        },
        "beliefs": result.n_beliefs,
        "merged": result.n_merged,
        "cut": result.n_cut,
    }
