"""What click and Typer say of their parameters: as a user would type it, or not at all."""

from __future__ import annotations

from typing import Any

import click
import pytest

from host.click import click_facts
from host.processes.importing import click_command
from testing.click_programs import chained, lazy, login, typed, typer_groups


def described(target: Any, *words: str) -> dict[str, Any]:
    for part in click_facts.described(click_command(target), "acme k"):
        if part["words"] == list(words):
            return part
    raise LookupError(words)


def parameters(target: Any, *words: str) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in described(target, *words)["parameters"]}


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("color", {"choices": ["RED", "GREEN"], "default": "RED", "kind": "string"}),
        ("size", {"bounds": {"minimum": 1, "maximum": 10}, "default": 3}),
        ("level", {"default": 7}),  # of the default_map
        ("when", {"default": None, "kind": "string"}),
        ("tag", {"default": ["a b"], "repeats": True}),
        ("point", {"size": 2, "kind": "number", "default": None}),
        ("output", {"names": ["-out", "--output"], "kind": "string"}),
        ("case", {"choices": ["north", "south"]}),
        ("number", {"kind": "string", "required": True, "option": False}),
        ("files", {"repeats": True, "required": False}),
    ],
)
def test_parameters_of_click(name: str, facts: dict[str, Any]) -> None:
    found = parameters(typed.cli)[name]
    assert {key: found[key] for key in facts} == facts


@pytest.mark.parametrize(
    ("words", "name", "facts"),
    [
        (("hello",), "count", {"kind": "integer", "default": 1}),
        (("hello",), "count", {"bounds": {"minimum": 1, "maximum": 5}}),
        (("hello",), "shade", {"choices": ["light", "dark"], "default": "dark"}),
        (("hello",), "verbose", {"depth": 0, "negations": ["--no-verbose"]}),
        (
            ("users", "create"),
            "password",
            {"secret": True, "required": True, "depth": 2},
        ),
        (("users", "create"), "tag", {"repeats": True, "kind": "string"}),
        (("users", "leave"), "code", {"kind": "integer", "required": True}),
    ],
)
def test_parameters_of_typer(
    words: tuple[str, ...], name: str, facts: dict[str, Any]
) -> None:
    found = parameters(typer_groups.app, *words)[name]
    assert {key: found[key] for key in facts} == facts


class ChoiceOfClick81(click.ParamType):
    """It compares the members of an enum, which are texts, with what is typed."""

    __module__ = "click.types"
    name = "choice"
    choices = tuple(typer_groups.Shade)


def test_choices_before_click_8_2() -> None:
    shades = click.Option(["--shade"], type=ChoiceOfClick81(), default="dark")
    found = parameters(click.Command("k", params=[shades]))["shade"]
    assert (found["choices"], found["default"]) == (["light", "dark"], "dark")


def test_whether_a_line_can_be_put_together() -> None:
    assert described(login.cli, "login")["is_plain"]
    assert not described(login.cli)["runs"]
    assert not described(chained.cli, "strip")["is_plain"]
    assert described(chained.cli)["runs"]
    # A lazy group has its own way to find a subcommand, but click's grammar.
    part = described(lazy.cli, "env", "deploy")
    assert part["is_plain"]
    assert part["usage"] == "acme k env ENV deploy [OPTIONS]"


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["-v", "--token", "t", "login", "u"], ["login"]),
        (["--token", "login", "login"], ["login"]),
        (["--token", "login"], []),
        (["nosuch"], []),
    ],
)
def test_the_path_of_a_line(words: list[str], path: list[str]) -> None:
    assert click_facts.path_of(login.cli, "acme k", words) == path
