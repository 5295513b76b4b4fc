"""What the package says of where the project lives: its URLs, and the links of the README.

`pyproject.toml` names the address of the repository once, in `[tool.hatch.metadata.hooks.custom]`;
hatchling calls this module when it builds the package. On PyPI there are no files beside the
README, so its links become absolute ones, to the files of the same version. As long as no address
is named, they lose their targets, and the pictures go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)]*)\)")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)([^)]*)\)")


class ProjectLinks(MetadataHookInterface):
    """Fills in `urls` and `readme` of the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add what depends on the address."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        version = str(metadata["version"])
        metadata["urls"] = project_urls(self.config, version)
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": readme_elsewhere(text, self.config.get("repository", ""), version),
        }


def project_urls(settings: Mapping[str, Any], version: str) -> dict[str, str]:
    """Return the project's URLs by their names: those of the repository, if it has an address."""
    repository = settings.get("repository", "")
    if not repository:
        return dict(settings["urls"])
    files = f"{repository}/blob/v{version}"
    return {
        "Homepage": repository,
        "Documentation": settings.get("documentation") or f"{files}/docs/index.md",
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{files}/CHANGELOG.md",
        **settings["urls"],
    }


def readme_elsewhere(text: str, repository: str, version: str) -> str:
    """Return the README with links that work where its neighbors are not."""
    if not repository:
        return LINK.sub(r"\1", re.sub(PICTURE.pattern + r"\n*", "", text))
    text = PICTURE.sub(rf"![\1]({repository}/raw/v{version}/\2)", text)
    text = re.sub(r"\]\(#", "](README.md#", text)
    return LINK.sub(rf"[\1]({repository}/blob/v{version}/\2)", text)
