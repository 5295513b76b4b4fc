"""Mastermind strategies, their scores, and the trees that they play.

The names are imported when they are first used; `bnmind/strategies/__init__.pyi` lists them.
"""

import bnmind._front_door as _front_door

__getattr__, __dir__ = _front_door.door(__name__)
