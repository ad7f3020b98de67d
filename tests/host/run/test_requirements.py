"""`requires`: what a definition may say, and which versions satisfy it."""

import pytest

from host.errors import DefinitionError
from host.run.json_file import Fields
from host.run.requirements import Requirement, read_requirements, satisfies

ENTRIES = {
    "jq": ("jq", "", ""),
    "jq>=1.6": ("jq", ">=1.6", ""),
    " g++ >= 1.6 , < 2": ("g++", ">=1.6,<2", ""),
    "python3.11==3.11.2": ("python3.11", "==3.11.2", ""),
}
OBJECTS = [
    ({"program": "aws", "version": ">=2", "hint": "ask"}, ("aws", ">=2", "ask")),
    ({"program": "aws", "version": None}, ("aws", "", "")),
]


@pytest.mark.parametrize(("entry", "values"), [*ENTRIES.items(), *OBJECTS])
def test_entries(entry, values):
    assert read_requirements(Fields("f", {}), [entry]) == (Requirement(*values),)


BAD = {
    "/bin/sh": 'f: "requires[0]": "/bin/sh" is not the name of a program',
    "jq 1.6": 'f: "requires[0]": "jq 1.6" is not the name of a program',
    "": 'f: "requires[0]": "" is not the name of a program',
    "-x": 'f: "requires[0]": "-x" is not the name of a program',
    "jq=1": 'f: "requires[0]": expected versions such as >=1.6 or >=1.6,<2; found "=1"',
    "jq>=1,": 'f: "requires[0]": expected versions such as >=1.6 or >=1.6,<2; found ">=1,"',
    "jq>=x": 'f: "requires[0]": expected versions such as >=1.6 or >=1.6,<2; found ">=x"',
}


@pytest.mark.parametrize(("entry", "message"), BAD.items())
def test_bad_entries(entry, message):
    with pytest.raises(DefinitionError) as raised:
        read_requirements(Fields("f", {}), [entry])
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("version", "good", "bad"),
    [
        (
            "1.6",
            [">=1.6", "==1.6.0", "<=1.6", "<1.10", ">1.5.9"],
            [">1.6", "<1.6", "==1"],
        ),
        ("2.0.1", [">2", ">=2.0", "<10"], ["<2.0.1", "==2.0", ">=1,<2"]),
    ],
)
def test_versions(version, good, bad):
    assert [one for one in good if not satisfies(version, one)] == []
    assert [one for one in bad if satisfies(version, one)] == []
