"""Tables of responses, and the examinees who gave them."""

from bnmind.adaptive.responses.examinees import Examinees
from bnmind.adaptive.responses.folds import fold_numbers
from bnmind.adaptive.responses.responses import Responses

__all__ = ["Examinees", "Responses", "fold_numbers"]
