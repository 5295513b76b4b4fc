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
    "bnmind._registry": ("Argument", "Registered"),
    "bnmind.adaptive.classification": ("SkillAgreement",),
    "bnmind.adaptive.learning.em": ("Parameters",),
    "bnmind.adaptive.response_models.additive": ("LinkFunction", "MainEffects"),
    "bnmind.adaptive.response_models.base": ("MadeForSkills",),
    "bnmind.adaptive.response_models.registry": ("RegisteredModel",),
    "bnmind.adaptive.response_models.tables": ("StepsOf",),
    "bnmind.adaptive.selection.selector": ("Questions",),
    "bnmind.adaptive.sessions.events": ("SessionState", "Step"),
    "bnmind.adaptive.sessions.history": ("History",),
    "bnmind.adaptive.simulation.simulate": ("ProgressOfTests",),
    "bnmind.adaptive.trees.files": ("ItemTreeFormat",),
    "bnmind.adaptive.trees.profile_classes": ("ProfileClasses",),
    "bnmind.fitting.squarem": ("Climb",),
    "bnmind.junction.cases.file_answers": ("Answer",),
    "bnmind.junction.cases.predict": ("Names",),
    "bnmind.junction.graphs.junction_tree": ("Edge",),
    "bnmind.junction.inference.compiled_query": ("Savings",),
    "bnmind.junction.triangulation.greedy_pass": ("Pass",),
    "bnmind.junction.triangulation.randomized_greedy": ("Searched",),
    "bnmind.lab.experiments": ("Row",),
    "bnmind.lab.mastermind.ending_names": ("EndingMaker",),
    "bnmind.lab.mastermind.game_series": ("GameSeries",),
    "bnmind.mastermind.beliefs.belief": ("NoErrors",),
    "bnmind.mastermind.beliefs.sampled_belief": ("SampledErrors",),
    "bnmind.mastermind.masses.mass_plan": ("Way",),
    "bnmind.mastermind.priors.registry": ("PriorMaker",),
    "bnmind.mastermind.sampling.consistent_codes": ("ListedCodes",),
    "bnmind.mastermind.sampling.sequential_monte_carlo": ("Population",),
    "bnmind.pgm.encoded_names": ("FileNames",),
    "bnmind.pgm.factor": ("Values",),
    "bnmind.pgm.formats.declared": ("Reading",),
    "bnmind.pgm.formats.model_format": ("ModelFormat", "ModelSource"),
    "bnmind.pgm.function_registry": ("RegisteredFunction",),
    "bnmind.pgm.stepwise": ("Steps", "Stepwise"),
    "bnmind.questions.asked": ("Asked", "Costs"),
    "bnmind.questions.trees.objectives": ("TreeBounds",),
    "bnmind.rank_one.registry": ("MakesTerms",),
    "bnmind.strategies.evolutionary.fitness": ("Replies",),
    "bnmind.strategies.evolutionary.operators": ("Choices",),
    "bnmind.strategies.evolutionary.players": ("Found", "SearchesCodes"),
    "bnmind.strategies.optimal.board_search": ("Solved",),
    "bnmind.strategies.snyder.metropolis_kernel": ("Facts", "Walk"),
    "bnmind.views.view": ("Marginals",),
}
"""Types whose members users read or call, by the module that defines them."""

OPAQUE: Mapping[str, tuple[str, ...]] = {
    "bnmind._values": ("Bounded",),
    "bnmind.adaptive.beliefs.batch_answers": ("BatchAnswers",),
    "bnmind.adaptive.beliefs.profile_space": ("ProfileSpace",),
    "bnmind.adaptive.beliefs.skill_tree": ("SkillTree",),
    "bnmind.adaptive.learning.learn": ("LearningModel",),
    "bnmind.adaptive.simulation.measures": ("Predictor",),
    "bnmind.dynamic.slice_plans": ("SlicePlans",),
    "bnmind.fitting.expectation": ("Expectation",),
    "bnmind.fitting.layout": ("Layout",),
    "bnmind.junction.derivatives.tables": ("InputTable",),
    "bnmind.junction.inference.compiled_query": ("CompiledQuery",),
    "bnmind.junction.program.program": ("Program",),
    "bnmind.junction.propagation.arrays": ("TreeArrays",),
    "bnmind.junction.queries.elimination_by_case": ("Elimination",),
    "bnmind.junction.single.light_order_kernel": ("Case", "LightArrays", "Steps"),
    "bnmind.junction.triangulation.randomized_greedy": ("Start",),
    "bnmind.junction.triangulation.scored_graph": ("Core",),
    "bnmind.lab.records": ("ExperimentKind",),
    "bnmind.mastermind.masses.color_elimination_maps": ("Contractions",),
    "bnmind.strategies.kernels.reply_arrays": ("BoardArrays",),
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
