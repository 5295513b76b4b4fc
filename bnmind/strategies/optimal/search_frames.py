"""The state of the compiled search: what the columns of `Work.frames` and `Work.counts` hold."""

from __future__ import annotations

__all__ = [
    "BEST",
    "BEST_GUESS",
    "BUDGET",
    "FLOOR",
    "GUESS",
    "IS_MARKED",
    "IS_OPEN",
    "LEFT",
    "LIMIT",
    "NEXT",
    "N_KEPT",
    "N_ORDER",
    "N_OVERWRITTEN",
    "N_SCANS",
    "N_SETS",
    "N_TRIED",
    "OPERATIONS",
    "PICKED",
    "RESUMED",
    "SIZE",
    "STOPPED",
    "TOTAL",
    "TRIED",
    "VALUE",
]

# Columns of a frame: the set that is searched, ...
GUESS = 0
"""The open guess, or the last one."""
SIZE = 1
"""The number of codes of the set."""
LEFT = 2
"""The number of guesses left."""
LIMIT = 10
"""The search needs the total only if it is less than this limit."""
VALUE = 13
"""The total of the finished set, or a lower bound of it."""

# ... its guesses, ...
N_ORDER = 6
"""The number of guesses to try."""
NEXT = 7
"""The index of the next guess to try."""
TRIED = 12
"""The number of guesses tried."""
BEST = 3
"""The smallest total so far, or the limit."""
BEST_GUESS = 4
"""The guess of this total, or −1."""
FLOOR = 5
"""The smallest lower bound of the guesses that are not better."""

# ... and the guess that is open.
IS_OPEN = 11
"""Whether a guess is open."""
TOTAL = 8
"""The lower bound of the open guess."""
PICKED = 9
"""The class of the open guess that is searched."""
IS_MARKED = 14
"""Whether the guesses to try after the open guess are marked."""

# Columns of the counts.
N_SETS = 0
"""Sets searched."""
N_TRIED = 1
"""Guesses tried for them."""
N_SCANS = 2
"""Scans of sets."""
N_KEPT = 3
"""Entries of the table."""
N_OVERWRITTEN = 4
"""Entries that were overwritten."""
BUDGET = 5
"""The largest number of guesses to try."""
STOPPED = 6
"""1 if the budget is used up, 2 if the search is too deep, else 0."""
RESUMED = 7
"""One more than the depth at which a paused search resumes; 0 before it starts."""
OPERATIONS = 8
"""The approximate number of operations since the search started or resumed."""
