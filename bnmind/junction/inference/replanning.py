"""Compiled queries derived from others: for more evidence, or without negative numbers.

All functions are pure: they take a compiled query and return another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bnmind.errors import TooLargeError
from bnmind.junction.inference.assembly import build, in_chosen_forms
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import Findings, label_of
from bnmind.junction.inference.parts import shared_search
from bnmind.junction.inference.query import opened, with_more
from bnmind.junction.reduction.possible_states import n_numbers
from bnmind.pgm.factor import Factor, Values

__all__ = ["narrowed", "with_evidence_as_inputs", "with_program", "without_signs"]

_UNSIGNED_CELLS = 2**24
"""The most cells of a plan without signs that serves any evidence, for runs whose signs cost
digits. For larger plans, each such run has its own plan without signs."""

_CONFLICT_CELLS = 2**24
"""The most cells of a plan that searches for contradictions; larger plans name all findings."""


def narrowed(
    compiled: CompiledQuery, findings: Findings, inputs: Mapping[str, Values]
) -> CompiledQuery:
    """Return the compiled query restricted to valid findings and inputs.

    Raises
    ------
    ImpossibleEvidenceError
        If a single table excludes the findings. The error does not name them.
    TooLargeError
        If the restricted plan exceeds its limits.
    """
    known = with_more(compiled.query, compiled.known, findings, inputs)
    before = compiled.known.total_size_before
    if before is None and compiled.by_case is None:
        before = compiled.total_size
    return build(compiled.query, replace(known, total_size_before=before))


def with_program(compiled: CompiledQuery) -> CompiledQuery:
    """Return a compiled query with a program, for a sum that is answered without one."""
    return build(replace(compiled.query, direct=False), compiled.known)


def without_signs(
    compiled: CompiledQuery, findings: Findings, inputs: Mapping[str, Values]
) -> CompiledQuery | None:
    """Return an equivalent compiled query without negative or complex numbers.

    Parameters
    ----------
    compiled
        The query.
    findings, inputs
        Findings and inputs of the restriction, if any.

    Returns
    -------
    CompiledQuery or None
        None if it would be too large, or if the model itself has such numbers.

    Raises
    ------
    ImpossibleEvidenceError
        If a single table rules the findings out; it does not name them.
    """
    query = compiled.query
    known = with_more(query, compiled.known, findings, inputs)
    plain = replace(query.with_originals(), signed=False, factorize=True)
    request, potentials, domains = opened(plain, known)
    factors = [p.values for p in potentials if isinstance(p, Factor)]
    if not query.signed or any(np.iscomplexobj(a) or np.any(a < 0) for a in factors):
        return None
    # A plan for a single run may have more cells than a plan for any evidence.
    most = query.limits.most_cells if findings or inputs else _UNSIGNED_CELLS
    # If a distribution has no form but a table that is too large, there is no need for a search.
    potentials, states = in_chosen_forms(request, potentials, domains, shared_search(request.query))
    if any(n_numbers(p, states) > most for p in potentials):
        return None
    try:
        plain_plan = build(replace(plain, most_cells=most, to_be_restricted=False), known)
    except TooLargeError:
        return None
    return None if plain_plan.is_signed else plain_plan


def with_evidence_as_inputs(compiled: CompiledQuery) -> CompiledQuery:
    """Return a compiled query that decides whether any subset of the findings is possible.

    Its inputs are those of the original query, and the likelihoods of all evidence variables of the
    original query, named by `label_of`. Omitted findings have the likelihood one.

    Raises
    ------
    TooLargeError
        If the query would be too large.
    """
    query = compiled.query
    scopes = {label_of(v.name): (v,) for v in (*query.evidence, *query.soft)}
    soft = replace(query, evidence=(), targets=((),), inputs={**query.inputs, **scopes}, soft=())
    return build(replace(soft, most_cells=_CONFLICT_CELLS, to_be_restricted=False))
