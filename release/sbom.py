"""The wheel's bill of materials: what it needs of others, as CycloneDX 1.7 (PEP 770)."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.requirements import Requirement


class BillOfMaterials(BuildHookInterface[Any]):
    """Writes `.dist-info/sboms/cli-host.cdx.json` from pyproject.toml's own words."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the bill to the wheel; `version` is the kind of wheel, editable ones have none."""
        if version != "standard":
            return

        self._directory = tempfile.TemporaryDirectory()
        path = os.path.join(self._directory.name, "cli-host.cdx.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(bill(self.metadata.core), file, indent=2, sort_keys=True)
            file.write("\n")
        build_data["sbom_files"].append(path)

    def finalize(
        self, version: str, build_data: dict[str, Any], artifact_path: str
    ) -> None:
        """Remove what `initialize` wrote."""
        if version == "standard":
            self._directory.cleanup()


def bill(core: Any) -> dict[str, Any]:
    """Return the bill: nothing of others is in the wheel, so each of them is external, in a range.

    It has no serial number and no time, so that the same sources give the same bytes.
    """
    requirements = [Requirement(str(line)) for line in core.dependencies]
    own = f"pkg:pypi/{core.name}@{core.version}"
    others = [_address(requirement) for requirement in requirements]
    dependencies = [{"ref": own, "dependsOn": others}]
    for other in others:
        dependencies.append({"ref": other, "dependsOn": []})

    component = {
        "type": "application",
        "bom-ref": own,
        "purl": own,
        "name": core.name,
        "version": core.version,
        "description": core.description,
        "licenses": [{"expression": core.license_expression}],
        "externalReferences": [{"type": "vcs", "url": core.urls["Source"]}],
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.7",
        "version": 1,
        "metadata": {"component": component},
        "components": [_external(requirement) for requirement in requirements],
        "dependencies": dependencies,
    }


def _external(requirement: Requirement) -> dict[str, Any]:
    versions = sorted(str(specifier) for specifier in requirement.specifier)
    address = _address(requirement)
    return {
        "type": "library",
        "bom-ref": address,
        "purl": address,
        "name": requirement.name,
        "isExternal": True,
        "versionRange": f"vers:pypi/{'|'.join(versions)}",
    }


def _address(requirement: Requirement) -> str:
    return f"pkg:pypi/{requirement.name}"
