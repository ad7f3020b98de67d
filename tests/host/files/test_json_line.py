"""One line of JSON, as the standard library writes it."""

import json
from datetime import date

import pytest

from host.files.json_line import json_line

VALUES = {
    "nothing": None,
    "text": 'é "quoted" \\ \n \x1b \U0001f600',
    "surrogate": "\udc80",
    "numbers": [0, -1, 2**70, 1.5, 1e300],
    "constants": (True, False, None),
    "empty": [{}, [], (), ""],
    "nested": {"a": {"b": [{"c": ("d",)}]}},
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_is_written_like_by_the_standard_library(value: object) -> None:
    assert json_line(value) == json.dumps(value)


def test_another_value_is_refused() -> None:
    with pytest.raises(TypeError, match="date cannot be JSON"):
        json_line({"day": date(2000, 1, 1)})
