"""Runs the vectors of jdx/usage for parsing command lines that our `args` can express.

    python tests/usage_vectors.py PATH_OF_A_CHECKOUT [--verbose]

The status is 1 if a result differs for which docs/decisions.md gives no reason.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from host.arguments.declarations import read_declarations
from host.arguments.parser import CommandLine, parse
from host.arguments.spec import TRUE
from host.errors import UsageError
from host.files.json_file import Fields

_UNKNOWN = "an unknown option is an error"
_NO_VALUE = "a value for a flag is an error"
DIFFERENT = {
    "long-unknown": _UNKNOWN,
    "long-many-dashes-names-nothing": _UNKNOWN,
    "short-unknown": _UNKNOWN,
    "short-bundle-unknown-letter-applies-nothing": _UNKNOWN,
    "long-boolean-with-empty-attached-value": _NO_VALUE,
    "long-boolean-with-attached-value": _NO_VALUE,
    "long-negation-with-attached-value": _NO_VALUE,
    "short-boolean-with-attached-value-is-not-a-bundle": _NO_VALUE,
}
# How our errors say what a class of theirs means.
_ERRORS = {
    "missing_flag_value": "needs a value",
    "unexpected_arg": "unexpected argument|unknown option",
    "unknown_flag": "unknown option",
    "missing_required_arg": "is missing",
    "missing_required_flag": "is missing",
    "invalid_choice": "expected one of",
    "conflicting_flags": "cannot be given together",
}
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s"={}]+)=(?:"([^"]*)"|(\S+))|(\S+)')
# Keys of theirs that say what holds for us anyway: numbers are values, unknown options errors.
_ALWAYS = {"allow_negative_numbers": "#true", "unknown_flags": "error"}


class OtherError(Exception):
    """Our `args` cannot express this."""


def declared(spec: str) -> Iterator[dict[str, Any]]:
    """Yield our declarations for a spec; raises OtherError."""
    last: dict[str, Any] = {}
    for line in filter(None, map(str.strip, spec.splitlines())):
        tokens = list(_TOKEN.finditer(line.removesuffix("{")))
        word, texts = tokens[0][0], [one[1] for one in tokens[1:] if one[1] is not None]
        keys = {
            one[2]: one[3] if one[3] is not None else one[4] for one in tokens if one[2]
        }
        if word in ("name", "bin", "}"):
            continue
        if _ALWAYS.get(word) == "".join(texts):
            continue
        if word == "choices":
            last["choices"] = texts
            continue
        if word not in ("flag", "arg") or len(texts) != 1:
            raise OtherError(word)
        last = flag(texts[0], keys) if word == "flag" else positional(texts[0], keys)
        yield last


def flag(text: str, keys: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word in text.split():
        key = (
            "name"
            if word.startswith("--")
            else "short"
            if word.startswith("-")
            else "value"
        )
        if key in found or "..." in word or "…" in word:
            raise OtherError("more than one name or value")
        found[key] = word.strip("<>[]")
    for key, value in keys.items():
        if key in ("var", "count"):
            found["repeats"] = True
        elif key == "negate" and value == f"--no-{found['name'][2:]}":
            found["negatable"] = True
        elif key == "conflicts":
            found["conflicts"] = [value]
        elif key in ("env", "default", "required"):
            found[key] = {"#true": True}.get(value, value)
        elif _ALWAYS.get(key) != value:
            raise OtherError(key)
    if found.get("default") is True:
        found["default"] = "true"
    return found


def positional(text: str, keys: dict[str, str]) -> dict[str, Any]:
    repeats = text.endswith(("...", "…")) or keys.pop("var", "") == "#true"
    name = text.removesuffix("...").removesuffix("…").strip("<>[]")
    found: dict[str, Any] = {"name": name + "..." * repeats}
    if text.startswith("<") and "default" not in keys:
        found["required"] = True
    for key, value in keys.items():
        if key in ("env", "default"):
            found[key] = value
        elif _ALWAYS.get(key) != value:
            raise OtherError(key)
    if "--" in name:
        raise OtherError("an argument behind -- only")
    return found


def shown(line: CommandLine) -> dict[str, dict[str, Any]]:
    """Return what our parser found, as a vector writes it: without what is absent."""
    found: dict[str, dict[str, Any]] = {"flags": {}, "args": {}}
    for one in line.arguments:
        values: list[Any] = list(line.values(one))
        if one.flag:
            values = [text.lower() in TRUE for text in values]
        if values:
            name = one.bare_name.removeprefix("--")
            found["flags" if one.option else "args"][name] = (
                values if one.repeats else values[0]
            )
    return found


def answer(vector: dict[str, Any]) -> tuple[str, bool]:
    """Return what our parser does with a vector, and whether that is expected."""
    entries = list(declared(vector["spec"]))
    arguments = read_declarations(
        Fields("spec", {"args": entries}).objects("args"), "/folder"
    )
    expected = vector["expect"]
    try:
        line = parse(arguments, vector["argv"], "ex", (), vector.get("env", {}))
    except UsageError as error:
        wording = _ERRORS.get(expected.get("error", ""), "(?!)")
        return str(error), re.search(wording, str(error)) is not None
    found = shown(line)
    wanted = {"flags": {}, "args": {}, **expected.get("ok", {})}
    return json.dumps(found), "ok" in expected and found == wanted


def main(root: Path, *, verbose: bool) -> int:
    counts = {"same": 0, "different, with a reason": 0, "different": 0, "not ours": 0}
    for file in sorted((root / "corpus").glob("*.json")):
        for vector in json.loads(file.read_text())["vectors"]:
            name = vector["id"]
            try:
                found, same = answer(vector)
            except OtherError as reason:
                counts["not ours"] += 1
                if verbose:
                    print(f"not ours   {name}: {reason}")
                continue
            kind = "same" if same else "different"
            if name in DIFFERENT and not same:
                kind = "different, with a reason"
            counts[kind] += 1
            if kind == "different" or (verbose and not same):
                expected = json.dumps(vector["expect"])
                print(
                    f"{kind}: {name}: {vector['argv']}: expected {expected}; found {found}"
                )
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return int(bool(counts["different"]) or not counts["same"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), verbose="--verbose" in sys.argv))
