# The names of `bnmind.fitting`, for type checkers and `bnmind._front_door`: the one list.

from bnmind.fitting.cases import network_of_structure as network_of_structure
from bnmind.fitting.em import EM as EM
from bnmind.fitting.em import EMInfo as EMInfo
from bnmind.fitting.em import EMState as EMState
from bnmind.fitting.em import Fit as Fit
from bnmind.fitting.em import FitOptions as FitOptions
from bnmind.fitting.em import fit as fit
from bnmind.fitting.priors import PRIORS as PRIORS
from bnmind.fitting.priors import BDeu as BDeu
from bnmind.fitting.priors import Dirichlet as Dirichlet
from bnmind.fitting.priors import Laplace as Laplace
from bnmind.fitting.priors import Prior as Prior
from bnmind.fitting.squarem import LearningRecord as LearningRecord
