# The names of `import bnmind`, for type checkers and for `bnmind._front_door`: the one list.

from bnmind import adaptive as adaptive
from bnmind import datasets as datasets
from bnmind import dynamic as dynamic
from bnmind import errors as errors
from bnmind import fitting as fitting
from bnmind import information as information
from bnmind import junction as junction
from bnmind import lab as lab
from bnmind import mastermind as mastermind
from bnmind import pgm as pgm
from bnmind import questions as questions
from bnmind import rank_one as rank_one
from bnmind import sensitivity as sensitivity
from bnmind import strategies as strategies
from bnmind import testing as testing
from bnmind import views as views
from bnmind.adaptive import ItemBank as ItemBank
from bnmind.adaptive import Session as Session
from bnmind.adaptive import learn as learn
from bnmind.adaptive import simulate as simulate
from bnmind.errors import BnmindError as BnmindError
from bnmind.fitting import fit as fit
from bnmind.information import choose_question as choose_question
from bnmind.junction import compile_model as compile_model
from bnmind.junction import compile_plan as compile_plan
from bnmind.junction import posterior as posterior
from bnmind.junction import predict as predict
from bnmind.lab import compare as compare
from bnmind.lab import play_game as play_game
from bnmind.mastermind import Board as Board
from bnmind.mastermind import Channel as Channel
from bnmind.pgm import Network as Network
from bnmind.pgm.files import read as read
from bnmind.questions import rank_questions as rank_questions

__version__: str
