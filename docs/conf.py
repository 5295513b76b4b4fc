"""How Sphinx builds these pages: ``sphinx-build -W docs build/docs``."""

from __future__ import annotations

import tomllib
from pathlib import Path

_ABOUT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))

project = "bnmind"
author = "The bnmind developers"
release = version = _ABOUT["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"bnmind {version}"
