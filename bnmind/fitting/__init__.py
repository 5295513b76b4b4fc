"""Learning the tables of any network from cases: counts with priors, and EM.

The names are imported when they are first used; `bnmind/fitting/__init__.pyi` lists them.
"""

import bnmind._front_door as _front_door

__getattr__, __dir__ = _front_door.door(__name__)
