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
    "bnmind.adaptive.beliefs": (
        "BatchProfiles",
        "Profile",
    ),
    "bnmind.adaptive.estimates": ("AbilityEstimate", "AnswerFit"),
    "bnmind.adaptive.calibration": (
        "AnsweredTests",
        "CalibratedItem",
        "Calibration",
        "Drift",
        "DriftChart",
        "ItemDrift",
    ),
    "bnmind.adaptive.classification": (
        "Agreement",
        "KnownProfiles",
        "Reliability",
        "SkillAgreement",
        "SkillReliability",
    ),
    "bnmind.adaptive.evaluation": (
        "CertifiedInterval",
        "DesignEvaluation",
        "ProfileClasses",
    ),
    "bnmind.adaptive.item_trees": (
        "ItemNode",
        "ItemTreeFormat",
    ),
    "bnmind.adaptive.formulas": ("LinkFunction",),
    "bnmind.adaptive.items.bank": ("HasBank",),
    "bnmind.adaptive.learning.comparison": (
        "AnyStructure",
        "ComparedModel",
        "Comparison",
        "CrossValidation",
        "ItemProposal",
        "LikelihoodRatio",
        "QValidation",
        "SkillSet",
        "SkillStructure",
    ),
    "bnmind.adaptive.items.skill_distributions": ("ProfileDistribution",),
    "bnmind.adaptive.learning.em": ("Parameters",),
    "bnmind.adaptive.learning.groups": ("ItemFunctioning", "LearnedGroups"),
    "bnmind.adaptive.learning.irt": ("IrtModel",),
    "bnmind.adaptive.learning.item_tests": (
        "Coefficient",
        "Coefficients",
        "ModelTest",
        "ReducedModel",
    ),
    "bnmind.adaptive.learning.judgment": (
        "Judgment",
        "LearnedSummary",
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
    "bnmind.adaptive.optimal_tests": (
        "FixedTest",
        "OptimalTest",
    ),
    "bnmind.adaptive.models": ("RegisteredModel",),
    "bnmind.adaptive.scores": ("RankedItem", "Selections"),
    "bnmind.adaptive.design": ("Outlook",),
    "bnmind.adaptive.sessions": (
        "SessionReport",
        "SkillReport",
    ),
    "bnmind.adaptive.simulation": ("ProgressOfTests",),
    "bnmind.adaptive.skill_models": ("StepsOf",),
    "bnmind.dynamic.passes": ("Likelihoods",),
    "bnmind.fitting.em": ("Climb",),
    "bnmind.junction.case_answers": (
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
    "bnmind.junction.compiled_query": ("Savings",),
    "bnmind.junction.evidence": ("Targets",),
    "bnmind.junction.sampling": (
        "Samples",
        "SamplingPlan",
        "WeightedPosterior",
    ),
    "bnmind.junction.search": (
        "BestExplanations",
        "ExplanationSearch",
    ),
    "bnmind.junction.slices": (
        "SlicedPlan",
        "SliceSums",
    ),
    "bnmind.junction.greedy_order": ("Climb",),
    "bnmind.junction.walk": ("ExplanationPlan",),
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
    "bnmind.questions.best_trees": (
        "BestTree",
        "FixedList",
        "QuestionNode",
        "QuestionTree",
        "SearchBounds",
    ),
    "bnmind.questions.dialogue": (
        "DialogueStopper",
        "AnswerStep",
        "SavedDialogue",
    ),
    "bnmind.questions.event_log": (
        "Event",
        "EventKind",
        "LogState",
        "LogSubject",
    ),
    "bnmind.questions.ranking": (
        "QuestionScore",
        "TargetMeasure",
        "AnswerEffect",
        "QuestionEffect",
        "QuestionRanking",
        "RankedQuestion",
    ),
    "bnmind.questions.tree_problems": ("TreeObjective",),
    "bnmind.questions.value": (
        "AnswerDoubt",
        "Doubts",
        "InformationValues",
        "ValuedQuestion",
    ),
    "bnmind.rank_one.terms": ("MakesTerms",),
    "bnmind.sensitivity.analysis": ("FindingWeight",),
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
    "bnmind.adaptive.belief_tables": ("ProfileSpace",),
    "bnmind.adaptive.formulas": ("Link",),
    "bnmind.adaptive.items.text_tables": ("TextTable",),
    "bnmind.adaptive.learning.learn": ("LearningModel",),
    "bnmind.adaptive.rules": ("Mask",),
    "bnmind.questions.value": ("Utilities",),
    "bnmind.dynamic.passes": ("SlicePlans",),
    "bnmind.fitting.expectation": ("Expectation",),
    "bnmind.fitting.layout": ("Layout",),
    "bnmind.junction.compiled_query": ("CompiledQuery",),
    "bnmind.junction.program": ("Program",),
    "bnmind.junction.walk": ("Elimination",),
    "bnmind.junction.greedy_order": ("Core",),
    "bnmind.junction.randomized_order": ("Start",),
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
