# The names of `bnmind.fitting`, for type checkers and `bnmind._front_door`: the one list.

from bnmind.fitting.em import EM as EM
from bnmind.fitting.em import EMInfo as EMInfo
from bnmind.fitting.em import EMState as EMState
from bnmind.fitting.em import Fit as Fit
from bnmind.fitting.em import FitOptions as FitOptions
from bnmind.fitting.em import LearningRecord as LearningRecord
from bnmind.fitting.em import fit as fit
from bnmind.fitting.expectation import network_of_structure as network_of_structure
from bnmind.fitting.layout import PRIORS as PRIORS
from bnmind.fitting.layout import BDeu as BDeu
from bnmind.fitting.layout import Dirichlet as Dirichlet
from bnmind.fitting.layout import Laplace as Laplace
from bnmind.fitting.layout import Prior as Prior
