# The names of `bnmind.sensitivity`, for type checkers and `bnmind._front_door`: the one list.

from bnmind.sensitivity.analysis import ExplainedConclusion as ExplainedConclusion
from bnmind.sensitivity.analysis import SensitivityAnalysis as SensitivityAnalysis
from bnmind.sensitivity.analysis import WeightOfEvidence as WeightOfEvidence
from bnmind.sensitivity.analysis import analyze as analyze
from bnmind.sensitivity.analysis import explain_conclusion as explain_conclusion
from bnmind.sensitivity.analysis import weight_of_evidence as weight_of_evidence
from bnmind.sensitivity.functions import Absolute as Absolute
from bnmind.sensitivity.functions import AtLeast as AtLeast
from bnmind.sensitivity.functions import AtMost as AtMost
from bnmind.sensitivity.functions import MostProbable as MostProbable
from bnmind.sensitivity.functions import Odds as Odds
from bnmind.sensitivity.functions import Parameter as Parameter
from bnmind.sensitivity.functions import Property as Property
from bnmind.sensitivity.functions import Relative as Relative
from bnmind.sensitivity.functions import SensitivityFunction as SensitivityFunction
from bnmind.sensitivity.functions import Spread as Spread
from bnmind.sensitivity.functions import cd_distance as cd_distance
