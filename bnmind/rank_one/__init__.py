"""Rank-one factorizations of functional and noisy distributions, by an auxiliary variable.

The names are imported when they are first used; `bnmind/rank_one/__init__.pyi` lists them.
"""

import bnmind._front_door as _front_door

__getattr__, __dir__ = _front_door.door(__name__)
