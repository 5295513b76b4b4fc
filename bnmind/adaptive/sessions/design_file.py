"""Designs of tests as TOML files.

::

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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, parse_json, read_text
from bnmind._messages import shown
from bnmind._registry import as_registered
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.bank_tables import named_prior
from bnmind.adaptive.selection.selectors import SELECTORS
from bnmind.adaptive.sessions.design import Design
from bnmind.errors import ModelFileError


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
    from bnmind._records import in_file, parse_table

    text = read_text(path, most=SMALL_FILE)
    try:
        content = parse_table(text)
        return _with_prior(_with_counts(content, Path(path).parent), Path(path).parent)
    except ModelFileError as error:
        raise in_file(error, path) from error


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


def design_from(content: Mapping[str, Any], bank: ItemBank) -> Design:
    """Return the design of a test of a bank from the content of a design file.

    Raises
    ------
    ModelFileError
        If the content is not a design of this bank, or no test can meet it. The error lists all
        faults with their places.
    """
    from bnmind._records import record_from_table
    from bnmind.adaptive.sessions.records import DesignRecord, design_of

    record = record_from_table(DesignRecord, content, between=".")
    return design_of(record, bank, text=json.dumps(content, ensure_ascii=False))


def _with_counts(content: dict[str, Any], directory: Path) -> dict[str, Any]:
    """Return the content with the counts that it names as a file."""
    entries = content.get("exposure")
    entries = [entries] if isinstance(entries, dict) else entries
    if not isinstance(entries, list):
        return content
    complete = [
        {**entry, "counts": parse_json(read_text(directory / entry["counts"], most=SMALL_FILE))}
        if isinstance(entry, dict) and isinstance(entry.get("counts"), str)
        else entry
        for entry in entries
    ]
    return {**content, "exposure": complete}


def _with_prior(content: dict[str, Any], directory: Path) -> dict[str, Any]:
    """Return the content with the prior that it names as a file."""
    prior = content.get("prior")
    if not isinstance(prior, str):
        return content
    return {**content, "prior": named_prior(prior, directory)}
