"""The variable CLI_RECORDED, `ID:ORIGIN:CLIENT`: the caller of a run records it already.

CLIENT is the query of an address, such as `name=Editor&version=1.0`.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def variable_of(run_id: str, origin: str, client: Mapping[str, str]) -> str:
    return f"{run_id}:{origin}:{urlencode(client)}"


def parts_of(variable: str) -> tuple[str, str, Mapping[str, str]]:
    """Return the id, the origin and the client; each may be empty."""
    run_id, _, rest = variable.partition(":")
    origin, _, query = rest.partition(":")
    client = parse_qsl(query, keep_blank_values=True)
    return run_id, origin, dict(client)
