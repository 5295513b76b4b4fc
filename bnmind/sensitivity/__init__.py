"""Sensitivity: the dependence of an answer on the findings and on the numbers of a network.

The names are imported when they are first used; `bnmind/sensitivity/__init__.pyi` lists them.
"""

import bnmind._front_door as _front_door

__getattr__, __dir__ = _front_door.door(__name__)
