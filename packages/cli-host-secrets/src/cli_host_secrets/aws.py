"""Resolve `aws-sm:NAME` and `aws-sm:NAME#KEY` with AWS Secrets Manager, up to 20 per call."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cli_host_secrets.json_values import decoded, json_field, json_variables
from cli_host_secrets.programs import output
from cli_host_secrets.references import Answers, Contents, each, pick_each
from host import HostError

_EXAMPLE = "aws-sm:NAME or aws-sm:NAME#KEY"
_MOST = 20  # the limit of batch-get-secret-value


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read secrets by name or ARN. Reading only one needs no batch-get-secret-value permission."""
    return pick_each(references, _EXAMPLE, _reader(environment), json_field)


def resolve_variables(
    references: Sequence[str], environment: Mapping[str, str]
) -> Contents:
    """Return the variables in secrets that are JSON objects, or the text of other secrets."""
    return pick_each(references, _EXAMPLE, _reader(environment), json_variables)


def _reader(environment: Mapping[str, str]) -> Callable[[Sequence[str]], Answers]:
    """Return the function that reads secrets by their names."""
    environment = {**environment, "AWS_PAGER": ""}

    def call(operation: str, request: Mapping[str, Any]) -> Any:
        # In JSON, aws cannot mistake a name for an option or for a `file://` URL to read.
        words = ["aws", "secretsmanager", operation, "--output", "json"]
        words += ["--cli-input-json", json.dumps(request)]
        text = output(words, environment)

        answer = decoded(text, "the output of aws")
        if not isinstance(answer, dict):
            return {}
        return answer

    def read(name: str) -> str:
        secret = call("get-secret-value", {"SecretId": name})
        return _text(secret)

    def read_batch(names: Sequence[str]) -> Answers:
        try:
            answer = call("batch-get-secret-value", {"SecretIdList": names})
        except HostError as failure:
            return dict.fromkeys(names, failure)
        return {name: _value_in(answer, name) for name in names}

    def read_all(names: Sequence[str]) -> Answers:
        # A batch needs a permission of its own, which many users lack.
        if len(names) == 1:
            return each(names, read)

        answers: Answers = {}
        for start in range(0, len(names), _MOST):
            batch = names[start : start + _MOST]
            answers |= read_batch(batch)
        return answers

    return read_all


def _value_in(answer: Mapping[str, Any], name: str) -> str | Exception:
    """Return the secret called `name` from the answer to a batch, or why it is not in there."""
    for secret in answer.get("SecretValues", ()):
        arn = str(secret.get("ARN"))
        is_named = name in (secret.get("Name"), arn)
        # An ARN may be given without the six characters at its end.
        if is_named or arn.startswith(f"{name}-"):
            return _text(secret)

    for failure in answer.get("Errors", ()):
        if failure.get("SecretId") == name:
            return HostError(f"{failure.get('ErrorCode')}: {failure.get('Message')}")
    return HostError("aws did not return this secret")


def _text(secret: Mapping[str, Any]) -> str:
    """Return a secret as text; a binary secret, which aws prints in base64, is decoded."""
    if "SecretBinary" in secret:
        content = base64.b64decode(secret["SecretBinary"])
        return content.decode("utf-8", "surrogateescape")
    return str(secret.get("SecretString", ""))
