"""Types that signatures name and that nobody needs to import: each has a place in the reference.

A public function may take or return an object of such a type, and a public object may have one as
a part. The reference describes it on the page of its room, below the public names. A type that
users make or pass themselves belongs among the public names of its room instead.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from docs.sphinx_pages.public_names import ROOT, PublicName, described, homes

__all__ = ["MEMBERS_SHOWN", "OPAQUE", "our_types", "supporting_types"]

MEMBERS_SHOWN: Mapping[str, tuple[str, ...]] = {
    "bnmind._registry": (
        "Argument",
        "Registered",
    ),
    "bnmind.adaptive.beliefs.belief": (
        "BatchProfiles",
        "Profile",
    ),
    "bnmind.adaptive.beliefs.estimates": ("AnswerFit",),
    "bnmind.adaptive.calibration": (
        "AnsweredTests",
        "CalibratedItem",
        "Calibration",
        "Drift",
        "DriftChart",
        "ItemDrift",
        "OnlineStep",
    ),
    "bnmind.adaptive.classification": (
        "KnownProfiles",
        "SkillAgreement",
        "SkillReliability",
    ),
    "bnmind.adaptive.items.bank": ("HasBank",),
    "bnmind.adaptive.learning.comparison": (
        "ComparedModel",
        "Comparison",
        "CrossValidation",
        "LikelihoodRatio",
        "SkillStructure",
        "SkillTree",
    ),
    "bnmind.adaptive.learning.em": ("Parameters",),
    "bnmind.adaptive.learning.groups": ("ItemFunctioning", "LearnedGroups"),
    "bnmind.adaptive.learning.irt": ("IrtModel",),
    "bnmind.adaptive.learning.item_tests": (
        "ModelTest",
        "QValidation",
        "ReducedModel",
        "SkillSet",
    ),
    "bnmind.adaptive.learning.judgment": (
        "Judgment",
        "LearningNote",
    ),
    "bnmind.adaptive.learning.learn": ("LearnedItem",),
    "bnmind.adaptive.learning.model_fit": (
        "ItemFit",
        "LimitedInformation",
        "PairFit",
        "PairStatistics",
        "PredictiveCheck",
    ),
    "bnmind.adaptive.learning.standard_errors": (
        "Coefficient",
        "Coefficients",
        "ItemParameter",
        "StandardErrors",
    ),
    "bnmind.adaptive.response_models.additive": ("MainEffects",),
    "bnmind.adaptive.response_models.base": ("MadeForSkills",),
    "bnmind.adaptive.response_models.links": ("LinkFunction",),
    "bnmind.adaptive.response_models.registry": ("RegisteredModel",),
    "bnmind.adaptive.response_models.tables": ("StepsOf",),
    "bnmind.adaptive.selection.scores": ("RankedItem", "Selections"),
    "bnmind.adaptive.sessions.design": ("Outlook",),
    "bnmind.adaptive.sessions.session": (
        "SessionReport",
        "SkillReport",
    ),
    "bnmind.adaptive.simulation.simulate": ("ProgressOfTests",),
    "bnmind.adaptive.trees.aims": ("ProfileClasses",),
    "bnmind.adaptive.trees.item_trees": ("ItemTreeFormat",),
    "bnmind.dynamic.passes": ("Likelihoods",),
    "bnmind.fitting.em": ("Climb",),
    "bnmind.junction.approximate": (
        "BoundedConditioning",
        "PosteriorBounds",
        "WeightedPosterior",
    ),
    "bnmind.junction.cases.predict": (
        "Answer",
        "CaseAnswers",
        "FileAnswers",
        "Names",
    ),
    "bnmind.junction.engine": ("CompetitionTask",),
    "bnmind.junction.gradient": ("Derivatives",),
    "bnmind.junction.graphs": (
        "Clique",
        "Edge",
    ),
    "bnmind.junction.inference.compiled_query": ("Savings",),
    "bnmind.junction.inference.evidence": ("Targets",),
    "bnmind.junction.sampling": (
        "Samples",
        "SamplingPlan",
    ),
    "bnmind.junction.search": (
        "BestExplanations",
        "ExplanationSearch",
    ),
    "bnmind.junction.slices": (
        "SlicedPlan",
        "SliceSums",
    ),
    "bnmind.junction.triangulation.greedy": ("Climb",),
    "bnmind.junction.walk": (
        "ExplanationPlan",
        "MarginalMapPlan",
    ),
    "bnmind.lab.experiments": ("Row",),
    "bnmind.lab.mastermind.games": ("EndingMaker",),
    "bnmind.lab.mastermind.setting": ("GameSeries",),
    "bnmind.mastermind.beliefs": ("NoErrors",),
    "bnmind.mastermind.color_elimination": ("Elimination",),
    "bnmind.mastermind.consistent": ("ListedCodes",),
    "bnmind.mastermind.masses": ("Way",),
    "bnmind.mastermind.priors": ("PriorMaker",),
    "bnmind.mastermind.sampled_belief": ("SampledErrors",),
    "bnmind.mastermind.sampling": ("Population",),
    "bnmind.pgm.encoded_names": ("FileNames",),
    "bnmind.pgm.factor": ("Values",),
    "bnmind.pgm.formats.declared": ("Reading",),
    "bnmind.pgm.formats.model_format": (
        "ModelFormat",
        "ModelSource",
    ),
    "bnmind.pgm.functions": (
        "RegisteredFunction",
        "Steps",
        "Stepwise",
    ),
    "bnmind.questions.asked": (
        "Asked",
        "Costs",
        "DiagnosisMarks",
    ),
    "bnmind.questions.dialogue": (
        "AnswerStep",
        "DialogueProgress",
    ),
    "bnmind.questions.dialogue_files": ("SavedDialogue",),
    "bnmind.questions.event_log": (
        "Event",
        "EventKind",
        "LogState",
        "Step",
    ),
    "bnmind.questions.ranking": (
        "AnswerEffect",
        "InformationOnly",
        "JointEntropy",
        "QuestionEffect",
        "QuestionRanking",
        "RankedQuestion",
    ),
    "bnmind.questions.value": (
        "AnswerDoubt",
        "Doubts",
        "InformationValues",
        "ValuedQuestion",
    ),
    "bnmind.rank_one.terms": ("MakesTerms",),
    "bnmind.sensitivity.explanation": ("FindingWeight",),
    "bnmind.sensitivity.functions": (
        "Interval",
        "TwoWayFunction",
    ),
    "bnmind.strategies.evolutionary": (
        "Found",
        "SearchesCodes",
    ),
    "bnmind.strategies.genetic_operators": (
        "Choices",
        "Replies",
    ),
    "bnmind.strategies.optimum": ("Solved",),
    "bnmind.views.view": ("Marginals",),
}
"""Types whose members users read or call, by the module that defines them."""

OPAQUE: Mapping[str, tuple[str, ...]] = {
    "bnmind._values": ("Bounded",),
    "bnmind.adaptive.beliefs.tables": ("ProfileSpace",),
    "bnmind.adaptive.items.text_tables": ("TextTable",),
    "bnmind.adaptive.learning.learn": ("LearningModel",),
    "bnmind.adaptive.response_models.links": ("Link",),
    "bnmind.adaptive.selection.rules": ("Mask",),
    "bnmind.questions.value": ("Utilities",),
    "bnmind.dynamic.passes": ("SlicePlans",),
    "bnmind.fitting.expectation": ("Expectation",),
    "bnmind.fitting.layout": ("Layout",),
    "bnmind.junction.inference.compiled_query": ("CompiledQuery",),
    "bnmind.junction.program.program": ("Program",),
    "bnmind.junction.walk": ("Elimination",),
    "bnmind.junction.triangulation.greedy": ("Core",),
    "bnmind.junction.triangulation.randomized": ("Start",),
    "bnmind.lab.records": ("ExperimentKind",),
    "bnmind.mastermind.color_elimination": ("Contractions",),
    "bnmind.strategies.best_guess": ("BoardArrays",),
    "bnmind.strategies.greedy": ("GrownTree",),
    "bnmind.strategies.optimum": ("SearchRules",),
}
"""Parts of plans, beliefs and annotations: users hand them on, and never look inside."""


_TYPE = re.compile(r"^(?:class (\w+)|(\w+): TypeAlias\b)", re.MULTILINE)


@functools.cache
def supporting_types() -> Mapping[tuple[str, str], PublicName]:
    """Return the supporting types by the module that defines each, and its name there."""
    found = {
        (module, name): described(module, name)
        for table in (MEMBERS_SHOWN, OPAQUE)
        for module, names in table.items()
        for name in names
    }
    public = sorted(".".join(thing) for thing in found.keys() & homes().keys())
    if public:
        raise ValueError(f"these types are public names already: {', '.join(public)}")
    return found


@functools.cache
def our_types() -> frozenset[str]:
    """Return the bare names of all classes and type aliases of bnmind, public or not."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "bnmind").rglob("*.py"))
    found = (_TYPE.findall(text) for text in texts)
    return frozenset(name or alias for pairs in found for name, alias in pairs)
