"""Priors: the probability of each secret code before the first guess."""

from bnmind.mastermind.priors.alternating import Alternating
from bnmind.mastermind.priors.closed_form import ClosedFormPrior
from bnmind.mastermind.priors.code_list import CodeList, prior_of_distribution, read_code_list
from bnmind.mastermind.priors.color_counts import LearnedColors
from bnmind.mastermind.priors.color_pool import ColorPool, prefer_fewer, two_color, usually_fewer
from bnmind.mastermind.priors.first_last_equal import FirstLastEqual
from bnmind.mastermind.priors.fixed_colors import FixedColors
from bnmind.mastermind.priors.learned_number import LearnedNumber
from bnmind.mastermind.priors.mixture import MixturePrior
from bnmind.mastermind.priors.number_of_colors import NumberOfColors, fewer_colors
from bnmind.mastermind.priors.only_colors import OnlyColors
from bnmind.mastermind.priors.only_once import OnlyOnce
from bnmind.mastermind.priors.prior import Codes, Prior, listed_distribution
from bnmind.mastermind.priors.registry import PRIORS, learned, parse_prior
from bnmind.mastermind.priors.uniform import UniformPrior

__all__ = [
    "PRIORS",
    "Alternating",
    "ClosedFormPrior",
    "CodeList",
    "Codes",
    "ColorPool",
    "FirstLastEqual",
    "FixedColors",
    "LearnedColors",
    "LearnedNumber",
    "MixturePrior",
    "NumberOfColors",
    "OnlyColors",
    "OnlyOnce",
    "Prior",
    "UniformPrior",
    "fewer_colors",
    "learned",
    "listed_distribution",
    "parse_prior",
    "prefer_fewer",
    "prior_of_distribution",
    "read_code_list",
    "two_color",
    "usually_fewer",
]
