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
"""The guess that is open, or was the last."""
SIZE = 1
"""How many codes the set has."""
LEFT = 2
"""How many guesses are left."""
LIMIT = 10
"""A total that is not less is of no interest."""
VALUE = 13
"""The total of the set, or a bound, when it is finished."""

# ... its guesses, ...
N_ORDER = 6
"""How many guesses there are to try."""
NEXT = 7
"""The place of the next one."""
TRIED = 12
"""How many were tried."""
BEST = 3
"""The least total so far, or the limit."""
BEST_GUESS = 4
"""The guess that has it, or −1."""
FLOOR = 5
"""The least bound of the guesses that are not better."""

# ... and the guess that is open.
IS_OPEN = 11
"""Whether one is."""
TOTAL = 8
"""What it takes at least."""
PICKED = 9
"""Which of its classes is searched."""
IS_MARKED = 14
"""Whether the guesses to look at after it are marked."""

# Columns of the counts.
N_SETS = 0
"""Sets searched."""
N_TRIED = 1
"""Guesses tried for them."""
N_SCANS = 2
"""Scans of sets."""
N_KEPT = 3
"""Entries of the memo."""
N_OVERWRITTEN = 4
"""Entries that were overwritten."""
BUDGET = 5
"""So many guesses may be tried."""
STOPPED = 6
"""1 if they were, 2 if the search went too deep."""
RESUMED = 7
"""The depth at which a search goes on that has paused, and 1; 0 if it has not begun."""
OPERATIONS = 8
"""About how many operations were done since it began, or went on."""
