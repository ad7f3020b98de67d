"""`required_envs`: names or objects with a hint, a type and `secret`."""

import json

import pytest

from host.variables.required import RequiredVariable
from testing.installation import command

# A type, what has it, and what has not.
TYPES = {
    "url": (
        ["https://x", "a+b.c-d://u:p@h/p?q"],
        ["x", "://x", "https://", "http:// x"],
    ),
    "port": (
        ["1", "65535", "080"],
        ["0", "65536", "-1", "+1", "1.5", "x", "²", "9" * 5000],
    ),
    "integer": (["0", "-7", "+7", "9" * 5000], ["1.5", "x", "1e3", "-"]),
    "path": (["x", "/none", "a b"], []),
    "email": (["a@b", "a.b+c@d.org"], ["a", "@b", "a@", "a@b@c", "a b@c", "a@."]),
    "": (["x"], []),
}


@pytest.mark.parametrize(("kind", "good", "bad"), [(k, *v) for k, v in TYPES.items()])
def test_types(kind, good, bad):
    name = RequiredVariable("X", "", kind)
    assert [one for one in good if name.fault(one)] == []
    assert [one for one in bad if not name.fault(one)] == []
    assert (name.fault(None), name.fault("")) == ("must be set", "must not be empty")


REQUIRED = [
    "PLAIN",
    {"name": "API_URL", "type": "url", "hint": "ask Ada"},
    {"name": "LICENCE", "secret": True, "type": "integer"},
]
WHERE = 'export it, or set it in config/settings.conf, "envs" or a file in "env_files"'


@pytest.fixture(scope="module")
def made(shared_install):
    pin = {"name": "--pin", "value": "PIN", "secret": True, "env": "THE_PIN"}
    typed = command(required_envs=REQUIRED, args=[pin])
    return shared_install(
        {
            "commands/a/b/command.json": typed,
            "commands/a/b/main.sh": "#!/bin/sh\necho ran\n",
            "commands/a/written/command.json": {**typed, "envs": {"LICENCE": "4711"}},
            "commands/a/written/main.sh": "#!/bin/sh\n",
        }
    )


GOOD = {"PLAIN": "x", "API_URL": "https://u:hunter2@h", "LICENCE": "4711"}
FAULTS = {
    "all": ({}, ""),
    "unset": ({"PLAIN": None}, f"PLAIN must be set; {WHERE}"),
    "unset with a hint": ({"API_URL": None}, "API_URL must be set; ask Ada"),
    "wrong with a hint": (
        {"API_URL": "hunter2"}, "API_URL must be a URL, such as https://example.org/; ask Ada"),
    "wrong": ({"LICENCE": "hunter2"}, f"LICENCE must be a whole number; {WHERE}"),
    "two": ({"PLAIN": None, "API_URL": None}, "PLAIN must be set; API_URL must be set; "
            "API_URL: ask Ada; export them, or set them in config/settings.conf, "
            '"envs" or a file in "env_files"'),
    "empty": ({"API_URL": ""}, "API_URL is empty in your environment (give it a value there, "
              "or unset it); ask Ada"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_run(made, changes, message):
    env = {
        name: value for name, value in {**GOOD, **changes}.items() if value is not None
    }
    error = (
        f"cli: {made.root}/commands/a/b/command.json: {message}\n" if message else ""
    )
    assert made.run("a", "b", env=env).all == (
        int(bool(message)),
        "" if message else "ran\n",
        error,
    )


def test_the_help_page(made):
    shown = made.run("help", "a", "b", env={"LICENCE": "4711"}).stdout
    assert "  API_URL  missing, required (url): ask Ada\n" in shown
    assert "  LICENCE  ********  ← your environment, required (integer)\n" in shown


def test_self_env_masks_what_is_declared_secret(made):
    env = {**GOOD, "THE_PIN": "7777", "OTHER": "not 4711"}
    shown = made.run("self", "env", "a", "b", "ARG_PIN", "OTHER", env=env).stdout
    assert "4711" not in shown
    assert "7777" not in shown
    assert "ARG_PIN" in shown
    rows = json.loads(
        made.run("self", "env", "a", "b", "--format", "json", env=env).stdout
    )
    [pin] = [one for one in rows if one["name"] == "ARG_PIN"]
    assert (pin["value"], pin["source"]) == ("********", "args: THE_PIN")
    assert "THE_PIN" in {one["name"] for one in rows}
    assert "7777" in made.run("self", "env", "a", "b", "--show-secrets", env=env).stdout


def test_self_lint(made):
    found = made.run("self", "lint", made.root / "commands/a/written")
    assert found.status == 1
    assert '"envs.LICENCE": looks like a secret' in found.stdout + found.stderr
    assert "unknown key" not in found.stdout + found.stderr


def test_json_of_a_listing(made):
    for _ in range(2):
        [row, _] = json.loads(made.run("--format", "json", "a").stdout)["commands"]
        assert [one["name"] for one in row["required_envs"]] == [
            "PLAIN",
            "API_URL",
            "LICENCE",
        ]
        assert row["required_envs"][1:] == [
            {"name": "API_URL", "hint": "ask Ada", "type": "url", "secret": False},
            {"name": "LICENCE", "hint": None, "type": "integer", "secret": True},
        ]
