"""Adaptive tests as trees: evaluated exactly, optimized, and written as files and paper tests.

The names are imported when they are first used; `bnmind/adaptive/trees/__init__.pyi` lists them.
"""

import bnmind._front_door as _front_door

__getattr__, __dir__ = _front_door.door(__name__)
