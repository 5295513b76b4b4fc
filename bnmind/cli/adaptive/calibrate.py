"""``bnmind calibrate``: new items calibrated from finished tests, and drift noticed."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bnmind._messages import counted
from bnmind.cli.adaptive.response_files import (
    FixedWidth,
    IdColumn,
    IgnoredColumns,
    KeyFile,
    Lowest,
    MissingTexts,
    read_response_file,
    say_notes,
)
from bnmind.cli.shared.command import Json, Seed, Share, check_place
from bnmind.cli.shared.terminal import plain_table, show_table, tell_json, terminal, working
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.adaptive import Calibration, ItemBank, ItemDrift, Responses

__all__ = ["calibrate"]


@dataclass(frozen=True)
class CalibrateOptions:
    """The options of the command.

    Parameters
    ----------
    bank
        The file of the item bank.
    tests
        Saved sessions, or a CSV file of responses.
    new
        A new item. Repeat the option for several.
    cycles
        At most this many EM cycles; 1 for one cycle.
    anew
        Forget earlier answers, for instance if these tests contain them.
    largest_error
        An item is ready if its probabilities are this exact, as a standard deviation.
    shift
        The drift to look for, in logits.
    false_alarm
        The probability that a chart of an item notices drift where there is none.
    out
        Write the calibrated bank here.
    """

    bank: Path
    tests: list[Path]
    _: KW_ONLY
    new: Annotated[list[str] | None, "ITEM"] = None
    cycles: int = 200
    anew: bool = False
    largest_error: Share = 0.05
    shift: Annotated[float, "D"] = 0.5
    false_alarm: Share = 0.01
    missing: MissingTexts = None
    id_column: IdColumn = None
    ignore: IgnoredColumns = None
    fixed_width: FixedWidth = None
    lowest: Lowest = 0
    key: KeyFile = None
    out: Path | None = None
    seed: Seed = None
    json_output: Json = False


def calibrate(options: CalibrateOptions) -> None:
    """Calibrate new items from finished tests, and notice items that drift.

    The tests are saved sessions of bnmind test, or one CSV file of responses, in the order of
    time. New items are those of the designs of the sessions, or given by --new. Their parameters
    are learned while all other items stay as they are; --out writes the bank with them. The
    answers to all other items are compared with their predictions; a change from some examinee on
    is noticed by charts of cumulative sums.

    Examples
    --------
    bnmind calibrate BANK.json SESSIONS/*.json --out bank2.json
    bnmind calibrate BANK.json RESPONSES.csv --new item_7 --new item_8 --out bank2.json
    bnmind calibrate BANK.json SESSIONS/*.json --false-alarm 0.001
    """
    import numpy as np

    from bnmind.adaptive import calibrate_items, item_drift, read_answers, read_bank, write_bank

    if options.out is not None:
        check_place(options.out, (".json",), "bank")
    bank = read_bank(options.bank)
    asked: Any = None
    new: tuple[str, ...] = tuple(options.new or ())
    if any(path.suffix.lower() != ".json" for path in options.tests):
        if len(options.tests) > 1:
            raise BnmindError("expected saved sessions (.json), or one file of responses")
        responses = read_response_file(
            options.tests[0], options, expected=bank.item_names, choices=bank
        )
        say_notes(responses)
    else:
        _check_no_table(options)
        tests = working("reading tests", lambda _: read_answers(options.tests, bank))
        responses, asked, new = tests.responses, tests.asked, new or tests.pilot
    if options.out is not None and not new:
        raise BnmindError("there is no new item for --out; name one by --new")
    found = None
    if new:
        found = working(
            "calibrating",
            lambda _: calibrate_items(
                bank,
                responses,
                new,
                max_cycles=options.cycles,
                anew=options.anew,
                largest_error=options.largest_error,
            ),
        )
    drift = working(
        "looking for drift",
        lambda _: item_drift(
            bank.averaged(),
            responses,
            rng=np.random.default_rng(options.seed or 0),
            asked=asked,
            pilot=new,
            shift=options.shift,
            false_alarm=options.false_alarm,
        ),
    )
    if found is not None and options.out is not None:
        write_bank(found.bank, options.out)
    if options.json_output:
        tell_json(_as_json(bank, found, drift, responses))
    else:
        _show(bank, found, drift, responses, options)


def _check_no_table(options: CalibrateOptions) -> None:
    """Raise BnmindError if options for a table of responses are given with sessions."""
    given = {
        "--missing": options.missing,
        "--id-column": options.id_column,
        "--ignore": options.ignore,
        "--fixed-width": options.fixed_width,
        "--lowest": options.lowest or None,
        "--key": options.key,
    }
    if named := [name for name, value in given.items() if value is not None]:
        raise BnmindError(f"{named[0]} is for a file of responses; the tests are saved sessions")


def _as_json(
    bank: ItemBank,
    found: Calibration | None,
    drift: tuple[ItemDrift, ...],
    responses: Responses,
) -> dict[str, Any]:
    rows = () if found is None else found.items
    return {
        "tests": len(responses),
        "cycles": None if found is None else found.n_cycles,
        "items": [
            {
                "item": row.item,
                "answers": row.answers,
                "before": row.before.tolist(),
                "after": row.after.tolist(),
                "errors": row.errors.tolist(),
                "error": row.error,
                "ready": row.is_ready,
            }
            for row in rows
        ],
        "drift": [
            {
                "item": row.item,
                "answers": row.answers,
                "z": row.z,
                **{
                    name: {
                        "p_value": chart.p_value,
                        "noticed": _who(responses, chart.noticed),
                        "began": _who(responses, chart.began),
                    }
                    for name, chart in (("easier", row.easier), ("harder", row.harder))
                },
            }
            for row in drift
        ],
    }


def _who(responses: Responses, row: int | None) -> str | None:
    return None if row is None else responses.examinees[row]


def _show(
    bank: ItemBank,
    found: Calibration | None,
    drift: tuple[ItemDrift, ...],
    responses: Responses,
    options: CalibrateOptions,
) -> None:

    console = terminal()
    console.print(f"{counted(len(responses), 'test')}.")
    if found is not None:
        cycles = counted(found.n_cycles, "EM cycle")
        console.print(f"\nNew items, after {cycles}; right without and with all skills:")
        table = plain_table("item", "answers", "before", "now", "±", "error", "ready")
        for row in found.items:
            before, now, error = (
                f"{t[0, -1]:.3f}, {t[-1, -1]:.3f}" for t in (row.before, row.after, row.errors)
            )
            ready = "yes" if row.is_ready else "no"
            numbers = (f"{row.answers:,}", before, now, error, f"{row.error:.3f}", ready)
            table.add_row(row.item, *numbers)
        show_table(console, table)
        if options.out is not None:
            console.print(f"Written: {options.out}", soft_wrap=True)
    noticed = [row for row in drift if row.is_noticed]
    rate = f"{options.false_alarm:g} for each chart"
    if not noticed:
        n = counted(len(drift), "other item")
        console.print(f"\nNo drift among {n}; false alarms {rate}.")
        return
    console.print(f"\nItems that drift (false alarms {rate}):")
    table = plain_table("item", "answers", "z", "became", "p", "noticed at", "since about")
    for item in sorted(noticed, key=lambda one: -abs(one.z)):
        for name, chart in (("easier", item.easier), ("harder", item.harder)):
            if chart.noticed is not None:
                table.add_row(
                    item.item,
                    f"{item.answers:,}",
                    f"{item.z:+.1f}",
                    name,
                    f"{chart.p_value:.3f}",
                    _who(responses, chart.noticed),
                    _who(responses, chart.began),
                )
    show_table(console, table)
