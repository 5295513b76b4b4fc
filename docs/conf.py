"""How Sphinx builds these pages: ``sphinx-build -W docs build/docs``."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for docs.sphinx_pages, and this bnmind

_ABOUT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

project = "bnmind"
author = "The bnmind developers"
release = version = _ABOUT["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "docs.sphinx_pages"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# The reference.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
python_display_short_literal_types = True
toc_object_entries = False  # thousands: each page would copy them all
nitpicky = True

html_theme = "furo"
html_title = f"bnmind {version}"
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_copyright = html_show_sourcelink = html_copy_source = False
