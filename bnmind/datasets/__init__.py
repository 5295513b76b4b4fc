"""Files that come with bnmind: responses, item banks, networks and designs to try it on."""

from bnmind.datasets.example_sets import (
    EXAMPLES,
    ExampleSet,
    copy_examples,
    example_path,
    example_set,
    example_table,
)

__all__ = [
    "EXAMPLES",
    "ExampleSet",
    "copy_examples",
    "example_path",
    "example_set",
    "example_table",
]
