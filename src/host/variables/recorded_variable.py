"""The variable CLI_RECORDED, `ID:ORIGIN:CLIENT`: the caller of a run records it already.

ID is that of the run in the history. CLIENT is the query of an address, such as
`name=Editor&version=1.0`. A variable without a valid ID is ignored.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_DIGITS = frozenset("0123456789abcdef")
_LENGTH = 12


def variable_of(run_id: str, origin: str, client: "Mapping[str, str]") -> str:
    from urllib.parse import urlencode

    return f"{run_id}:{origin}:{urlencode(client)}"


def id_of(variable: str) -> str:
    """Return the id, or "" if it is no id."""
    run_id = variable.partition(":")[0]
    if len(run_id) == _LENGTH and _DIGITS.issuperset(run_id):
        return run_id
    return ""


def parts_of(variable: str) -> "tuple[str, str, Mapping[str, str]]":
    """Return the id, the origin and the client; each may be empty."""
    from urllib.parse import parse_qsl  # needed by few runs

    run_id = id_of(variable)
    if not run_id:
        return "", "", {}
    origin, _, query = variable.partition(":")[2].partition(":")
    client = parse_qsl(query, keep_blank_values=True)
    return run_id, origin, dict(client)
