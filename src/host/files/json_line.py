"""Write a value as one line of JSON."""

from _json import encode_basestring_ascii, make_encoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_NO_MARKERS = None  # a value that contains itself is not looked for
_NO_INDENT = None
_SORT_KEYS = False
_SKIP_KEYS = False
_ALLOW_NAN = True


def json_line(value: object) -> str:
    """Return `value` as `json.dumps` does: dicts, lists, tuples, texts, numbers, booleans, None.

    Raises TypeError for any other value.
    """
    # This is the encoder of `json.dumps`. Importing `json` takes as long as a whole listing of a
    # hundred commands, because it imports `re`.
    encode = make_encoder(
        _NO_MARKERS,
        _refuse,
        encode_basestring_ascii,
        _NO_INDENT,
        ": ",
        ", ",
        _SORT_KEYS,
        _SKIP_KEYS,
        _ALLOW_NAN,
    )
    return "".join(encode(value, 0))


def _refuse(value: object) -> "NoReturn":
    raise TypeError(f"{type(value).__name__} cannot be JSON")
