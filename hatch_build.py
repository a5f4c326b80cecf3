"""Tell an index what the README says: with links that lead somewhere there, and where the project lives.

A fork lives elsewhere, so the address comes from the variable TTT_NET_FORGE (https://forge.example/owner/name), and the
tag, branch or commit that links lead to from TTT_NET_REF; the release workflow sets both. Without them links stay as
they are written, which is right for a clone.
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

FORGE, REF = "TTT_NET_FORGE", "TTT_NET_REF"
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def with_absolute_links(text: str, forge: str, ref: str) -> str:
    """Return the page with links and images that lead to the files of `ref` in the forge."""

    def absolute(found: re.Match[str]) -> str:
        kind = "raw" if found[1] else "blob"
        return f"{found[1]}[{found[2]}]({forge}/{kind}/{ref}/{found[3]})"

    return _LINK.sub(absolute, text)


class CustomMetadataHook(MetadataHookInterface):
    """What hatchling asks for the fields that pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, object]) -> None:
        """Set the README, and the addresses if they are known."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        forge, ref = os.environ.get(FORGE, "").rstrip("/"), os.environ.get(REF) or "HEAD"
        metadata["urls"] = {}
        if forge:
            text = with_absolute_links(text, forge, ref)
            metadata["urls"] = {
                "Homepage": forge,
                "Documentation": f"{forge}/tree/{ref}/docs",
                "Changelog": f"{forge}/blob/{ref}/CHANGELOG.md",
                "Issues": f"{forge}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
