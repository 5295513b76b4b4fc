"""Dynamic Bayesian networks: filtering, prediction, smoothing, most probable paths, learning.

The names are imported when they are first used; `bnmind/dynamic/__init__.pyi` lists them.
"""

import bnmind._front_door as _front_door

__getattr__, __dir__ = _front_door.door(__name__)
