"""Learning while testing: answers of finished tests, new items calibrated, drift noticed."""

from bnmind.adaptive.calibration.answers import AnsweredTests, read_answers
from bnmind.adaptive.calibration.calibrate import CalibratedItem, Calibration, calibrate_items
from bnmind.adaptive.calibration.drift import Drift, DriftChart, ItemDrift, item_drift
from bnmind.adaptive.calibration.online import OnlineCalibration, OnlineStep

__all__ = [
    "AnsweredTests",
    "CalibratedItem",
    "Calibration",
    "Drift",
    "DriftChart",
    "ItemDrift",
    "OnlineCalibration",
    "OnlineStep",
    "calibrate_items",
    "item_drift",
    "read_answers",
]
