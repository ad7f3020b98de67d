"""Secrets of click commands are masked by text, without parsing (CONTRACT 19)."""

from __future__ import annotations

import pytest

from host.arguments.click_tree import (
    ClickTree,
    SecretOption,
    Subcommand,
    json_of,
    tree_of_json,
)

TREE = ClickTree(
    subcommands=(
        Subcommand(("login",), "", False),
        Subcommand(("user", "add"), "", False),
    ),
    secret_options=(
        SecretOption(("-p", "--password"), 1),
        SecretOption(("--pair-key",), 2),
        SecretOption(("-dbauth",), 1),
    ),
    has_secret_argument=False,
    masks_options=False,
    is_whole=True,
)
M = "********"


def test_letters_of_one_option_in_the_value_of_another() -> None:
    """click gives `-p` the rest of the word, whichever option was declared first."""
    options = (
        SecretOption(("-t", "--token"), 1),
        SecretOption(("-p", "--password"), 1),
    )
    tree = TREE.replaced(secret_options=options)
    assert tree.masked(["-pHuntert2x", "-vpHuntert2"]) == [f"-p{M}", f"-vp{M}"]
    both = TREE.replaced(secret_options=(SecretOption(("-t", "-p", "--password"), 1),))
    assert both.masked(["-pHuntert"]) == [f"-p{M}"]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("login --password x y", f"login --password {M} y"),
        ("-v login --password x", f"-v login --password {M}"),
        ("login --password=x", f"login --password={M}"),
        ("login -p x", f"login -p {M}"),
        ("login -px", f"login -p{M}"),
        ("login -vpx", f"login -vp{M}"),
        ("login -vp x", f"login -vp {M}"),
        ("--pair-key a b c", f"--pair-key {M} {M} c"),
        ("--pair-key=a b c", f"--pair-key={M} {M} c"),
        ("-dbauth x -dbauth=y", f"-dbauth {M} -dbauth={M}"),
        # The first may be the value of another option.
        ("--name --password --password x", f"--name --password {M} {M}"),
        ("login --password", "login --password"),
        ("login -- --password x", f"login -- --password {M}"),
        (
            "login --PASSWORD x --pair_key a b",
            f"login --PASSWORD {M} --pair_key {M} {M}",
        ),
        ("login a --other b --passwords c", "login a --other b --passwords c"),
    ],
)
def test_what_follows_a_name(line: str, shown: str) -> None:
    assert TREE.masked(line.split()) == shown.split()


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("login x", f"login {M}"),
        ("-v user add x --role admin y", f"-v user add {M} --role {M} {M}"),
        ("login - -- -x login", f"login {M} -- {M} login"),
        ("login -- -px", f"login -- {M}"),
        ("login -px z", f"login -p{M} {M}"),
    ],
)
def test_a_secret_argument(line: str, shown: str) -> None:
    tree = TREE.replaced(has_secret_argument=True)
    assert tree.masked(line.split()) == shown.split()


def test_secrets_that_look_like_options() -> None:
    shown = TREE.replaced(masks_options=True).masked(
        ["login", "-psw", "--", "--PASSWORD", "x"]
    )
    assert shown == ["login", M, "--", M, M]


def test_what_is_below_a_hidden_group() -> None:
    tree = TREE.replaced(
        subcommands=(
            Subcommand(("deep",), "", True),
            Subcommand(("deep", "er"), "E", True),
            Subcommand(("login",), "L", False),
        )
    )
    assert tree.below([]) == [("login", "L")]
    assert tree.below(["deep"]) == [("er", "E")]


def test_a_tree_that_could_not_be_read() -> None:
    assert TREE.replaced(is_whole=False).masked(["login", "-v"]) == [M, M]


def test_the_lock_keeps_all_of_it() -> None:
    assert tree_of_json(json_of(TREE)) == TREE
