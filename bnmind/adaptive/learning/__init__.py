"""Learning an item bank from responses."""

from bnmind.adaptive.learning.learn import Learned, LearnedItem, LearningRecord, learn

__all__ = ["Learned", "LearnedItem", "LearningRecord", "learn"]
