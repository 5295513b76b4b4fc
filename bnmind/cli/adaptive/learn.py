"""``bnmind learn``: a bank from responses and a Q-matrix."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bnmind._files import check_writable
from bnmind._messages import counted, percent
from bnmind.cli.adaptive.coefficient_tables import (
    coefficient_json,
    coefficients_or_reason,
    write_tables,
)
from bnmind.cli.adaptive.learning_start import irt_models, learning_start
from bnmind.cli.adaptive.learning_text import LearnedModel
from bnmind.cli.adaptive.model_names import (
    skills_name,
    usual_skills,
)
from bnmind.cli.adaptive.options import GateName, SkillsName, check_shares
from bnmind.cli.adaptive.response_files import (
    FixedWidth,
    GroupColumn,
    IdColumn,
    IgnoredColumns,
    KeyFile,
    Lowest,
    MissingTexts,
    QMatrixFile,
    ResponseFile,
    as_in_file,
    say_notes,
)
from bnmind.cli.shared.command import Count, Json, Seed, Share, Workers, check_place
from bnmind.cli.shared.terminal import (
    INTERRUPTED,
    naming,
    plain_table,
    printable,
    say,
    show_table,
    tell_json,
    terminal,
    until_interrupted,
)

if TYPE_CHECKING:
    from bnmind.adaptive import (
        Coefficients,
        ItemBank,
        Learned,
        LearningOptions,
        Responses,
    )

__all__ = ["learn"]


_ITEMS_SHOWN = 40


@dataclass(frozen=True)
class LearnOptions:
    """The options of the command.

    Parameters
    ----------
    bank
        A bank to learn again, instead of a Q-matrix.
    out
        The file for the learned bank.
    coefficients
        A CSV file for the parameters of each item in the words of its model, with standard
        errors.
    table
        A CSV file with a row for each item: guess, slip and other parameters, each with its
        standard error.
    items
        A table with a column item, and columns such as text, content, cost and time.
    skill_labels
        A table with the names of the skills and a column label.
    gate
        The response model of the items, from the list below; sequential:NAME for items with
        more than two responses; or FILE.py:CLASS for a model of your own. [default: dina]
    skills
        The distribution of the skills, from the list below; or hierarchy:A>B,A>C: nobody has B
        or C without A; or the file of a network (.bif, .xdsl, .net, …) with the arcs between
        the skills, whose tables are learned. [default: saturated up to 12 skills, else
        independent]
    max_guess
        Limit the learned probability of a guess.
    max_slip
        Limit the learned probability of a slip.
    monotone
        Require that more skill never lowers the probability of success. By default it may, as
        in CDM and GDINA.
    least_chance
        Keep each learned probability at least this far from 0 and 1.
    starts
        Number of starts; the best result counts. [default: 5 for discrete skills, whose
        likelihood has several maxima, else 1]
    iterations
        The most EM iterations of a start.
    title
        The title of the bank.
    """

    responses: ResponseFile
    _: KW_ONLY
    qmatrix: QMatrixFile = None
    bank: Path | None = None
    out: Path | None = None
    coefficients: Path | None = None
    table: Path | None = None
    missing: MissingTexts = None
    id_column: IdColumn = None
    group_column: GroupColumn = None
    ignore: IgnoredColumns = None
    fixed_width: FixedWidth = None
    lowest: Lowest = 0
    key: KeyFile = None
    items: Path | None = None
    skill_labels: Path | None = None
    gate: GateName | None = None
    skills: SkillsName | None = None
    max_guess: Share = 1.0
    max_slip: Share = 1.0
    monotone: bool = False
    least_chance: Share = 0.0001
    starts: Count | None = None
    iterations: Count = 5000
    title: Annotated[str | None, "TEXT"] = None
    workers: Workers = 1
    seed: Seed = None
    json_output: Json = False


def learn(options: LearnOptions) -> None:
    """Learn an item bank from the responses of examinees, by maximum likelihood (EM).

    RESPONSES is a file with a table, as R, Excel or SPSS write it. Its first line names the items.
    Each further line holds the responses of one examinee: 0, 1, …, or nothing if the item was not
    asked; or a single response, in a table with columns for examinee, item and response. The
    Q-matrix marks the skills that each item needs. It has a column for each skill, and may have a
    column item; if its rows have no names, the items are matched by position. Notes say how the
    files were read. After Ctrl-C, the command writes the best parameters so far.

    Examples
    --------
    bnmind learn models/fractions-class/responses.csv --qmatrix models/fractions-class/qmatrix.csv
    bnmind learn RESPONSES.csv --qmatrix Q.csv --out bank.json --gate gdina --starts 10
    bnmind learn RESPONSES.csv --gate 2PL --out bank.json
    bnmind learn MORE.csv --bank bank.json --out better.json --json
    """
    from bnmind.adaptive import learn as learned_from
    from bnmind.adaptive import write_bank

    start, data, settings = _inputs(options)
    say_notes(data)
    named = _named(start, settings, options)
    learned_in = printable(options.responses.name)
    if options.out is not None:
        _check_place(start, options.out, options.title or "")
    for path, what in ((options.coefficients, "coefficients"), (options.table, "table")):
        if path is not None:
            check_place(path, (".csv",), what)
    learned, interrupted = until_interrupted(
        "learning",
        lambda report, ended: learned_from(
            data,
            start,
            options=replace(settings, until=ended),
            title=options.title,
            source=f"learned from {counted(len(data), 'examinee')} in {learned_in}",
            progress=report,
        ),
    )
    if options.out is not None:
        write_bank(learned.bank, options.out)
        _tell_names(learned.bank, options.out)
    if interrupted:
        kept = "follow" if options.out is None else f"are in {options.out}"
        say(f"interrupted before the end; the best parameters so far {kept}")
    wanted = options.coefficients is not None or options.table is not None
    known = coefficients_or_reason(learned, wanted=wanted)
    write_tables(learned, known, rows=options.coefficients, items=options.table)
    if options.json_output:
        tell_json(_as_json(learned, named, known, options))
    else:
        _show(learned, named, known, options)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _inputs(options: LearnOptions) -> tuple[ItemBank, Responses, LearningOptions]:
    """Return the bank to start from, the responses, and how to learn."""
    from bnmind.adaptive import Bounds, LearningOptions, describe_bank, irt_options
    from bnmind.adaptive.learning.irt import has_curves

    check_shares({"--max-guess": options.max_guess, "--max-slip": options.max_slip})
    check_shares({"--least-chance": options.least_chance}, below=0.49)
    settings = LearningOptions(
        starts=options.starts,
        seed=options.seed or 0,
        bounds=Bounds((0.0, options.max_guess), (0.0, options.max_slip)),
        monotone=options.monotone,
        least_chance=options.least_chance,
        max_iterations=options.iterations,
        workers=options.workers,
    )
    start, data, settings = learning_start(options, options.gate, settings, items=options.items)
    if options.bank is not None and has_curves(start):
        settings = irt_options(None, start, settings)
    start = as_in_file(start, options.lowest)
    if options.items is not None:
        with naming(options.items):
            start = describe_bank(start, items=options.items)
    if options.skill_labels is not None:
        with naming(options.skill_labels):
            start = describe_bank(start, skills=options.skill_labels)
    return start, data, settings


def _named(start: ItemBank, settings: LearningOptions, options: LearnOptions) -> LearnedModel:
    """Return the names of the models."""
    if options.bank is not None:
        return LearnedModel.of(start, settings, None, None)
    gate = options.gate or "dina"
    if options.qmatrix is None:
        gate = next(name for name in irt_models() if name.lower() == gate.lower())
        return LearnedModel.of(start, settings, gate, None)
    from bnmind.adaptive.response_models.registry import gate_name

    skills = options.skills or usual_skills(len(start.skills))
    return LearnedModel.of(start, settings, gate_name(gate), skills_name(skills))


def _check_place(start: ItemBank, out: Path, title: str) -> None:
    """Raise before the work is done if its result could not be written."""
    from bnmind.adaptive.items.bank_files import bank_contents
    from bnmind.pgm.files import NETWORK_SUFFIXES

    check_place(out, NETWORK_SUFFIXES, "bank")
    # All but the numbers is known now: the names, the sizes of the tables and the places.
    check_writable(*bank_contents(replace(start, title=title), out))


def _tell_names(bank: ItemBank, out: Path) -> None:
    """Report the names that the file encodes."""
    from bnmind.pgm.files import file_names

    if names := file_names(bank.network, out):
        first = str(names).split("; ")
        more = f"; and {len(first) - 5} more" if len(first) > 5 else ""
        say(
            f"note: {out.suffix} files cannot hold some names; they are written encoded, and"
            f" decoded when bnmind reads the file: {'; '.join(first[:5])}{more}",
        )


def _as_json(
    found: Learned, named: LearnedModel, known: Coefficients | str, options: LearnOptions
) -> dict[str, Any]:
    from bnmind.adaptive.learning.fit.summary import curve_estimates
    from bnmind.adaptive.learning.notes import mastery

    record, estimates, of_items = found.record, curve_estimates(found), coefficient_json(known)
    out = options.out
    return {
        "response_models": named.items,
        "skill_distribution": named.skills,
        "log_likelihood": found.log_likelihood,
        "parameters": found.n_parameters,
        "aic": found.aic,
        "bic": found.bic,
        "examinees": len(found.responses),
        "file_notes": list(found.responses.notes),
        "missing": found.responses.n_missing,
        "converged": record.converged,
        "steps": record.steps,
        "starts": list(record.starts),
        "starts_stopped_early": list(record.stopped_early),
        "best_start": record.best_start,
        "seed": record.seed,
        "skills": [
            {"name": name, "levels": levels.tolist()} for name, levels in mastery(found).items()
        ],
        "items": [
            {"name": item.name, "guess": item.guess, "slip": item.slip}
            | ({"estimates": estimates[item.name]} if item.name in estimates else {})
            | {"coefficients": of_items.get(item.name, [])}
            for item in found.items
        ],
        "monotone": found.options.monotone,
        "least_chance": found.options.least_chance,
        "learning_notes": [
            {
                "kind": note.kind,
                "names": list(note.names),
                "details": list(note.details),
                "text": note.text,
            }
            for note in found.notes
        ],
        "out": None if out is None else str(out),
    }


def _show(
    found: Learned, named: LearnedModel, known: Coefficients | str, options: LearnOptions
) -> None:
    from bnmind.adaptive.learning.fit.summary import ability_lines, item_table, opening, shortened
    from bnmind.adaptive.learning.notes import mastery

    console = terminal()
    data, *fit = opening(found)
    for line in (data, printable(str(named)), *fit):
        console.print(line, soft_wrap=True)
    columns, rows, below = item_table(found, known)
    table = plain_table("item", *columns)
    for row in rows[:_ITEMS_SHOWN]:
        table.add_row(*row)
    show_table(console, table)
    if len(found.items) > _ITEMS_SHOWN:
        console.print(f"  and {len(found.items) - _ITEMS_SHOWN} more")
    console.print(below, soft_wrap=True)
    if abilities := ability_lines(found):
        for line in abilities:
            console.print(line, soft_wrap=True)
    else:
        table = plain_table("skill", "highest level")
        for name, levels in mastery(found).items():
            table.add_row(name, percent(levels[-1]))
        show_table(console, table)
    console.print("Notes:")
    for note in found.notes:
        console.print(f"  {shortened(note)}.", soft_wrap=True)
    for path in (options.out, options.coefficients, options.table):
        if path is not None:
            console.print(f"Written to {path}.", soft_wrap=True)
