"""Judges the bill of materials of a wheel by the schema of CycloneDX: check_sbom.py WHEEL."""

from __future__ import annotations

import sys
import zipfile

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def main(wheel: str) -> str:
    """Return what is wrong, or nothing."""
    with zipfile.ZipFile(wheel) as archive:
        bills = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
        if len(bills) != 1:
            return f"{wheel}: one bill of materials was expected, found {len(bills)}"
        text = archive.read(bills[0]).decode()

    problem = JsonStrictValidator(SchemaVersion.V1_7).validate_str(text)
    if problem:
        return f"{wheel}: {bills[0]}: {problem}"
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) or 0)
