"""A plugin whose files are missing is named where users look for its commands."""

import json
import shutil

import pytest


@pytest.mark.slow
def test_listings_warn_once_and_an_unknown_word_names_the_plugin(install):
    made = install(
        {
            "plugins/px/px/go/command.json": {
                "name": "go",
                "description": "d",
                "entrypoint": "m.sh",
            },
            "plugins/px/px/go/m.sh": "#!/bin/sh\necho went\n",
            "commands/demo/hello": "#!/bin/sh\necho hello\n",
        }
    )
    assert made.run("px", "go").all == (0, "went\n", "")
    shutil.rmtree(made.root / "plugins/px")
    done = made.run("px", "go")
    assert done.status == 2
    text = "its files are missing"
    assert (
        "unknown category px; the plugin px has it: its files are missing"
        in done.stderr
    )
    other = made.run("py").stderr  # it is known that the plugin had no `py`
    assert "cli: unknown category py; see: cli --help\n" in other
    listed = made.run()
    assert (listed.status, listed.stderr.count(text)) == (0, 1)
    assert made.run("demo", "hello").all == (0, "hello\n", "")
    [row] = json.loads(made.run("self", "plugin", "list", "--format", "json").stdout)[
        "plugins"
    ]
    assert (row["name"], row["state"]) == ("px", "missing")
    assert made.run("self", "plugin", "remove", "px", "--yes").status == 0
    assert text not in made.run().stderr


def test_a_registry_without_recorded_words_names_each_missing_plugin(install):
    entry = {
        "name": "old",
        "kind": "git",
        "source": "https://h.example/old",
        "commit": "a" * 40,
    }
    registry = {"version": "1.0.0", "plugins": [{**entry, "words": ["../x"]}]}
    made = install({"plugins/registry.json": registry})
    done = made.run("px", "go")
    assert done.status == 2
    assert (
        "unknown category px; the plugin old may have it: its files are missing"
        in done.stderr
    )


@pytest.mark.slow
def test_a_broken_package_is_named_for_its_words(install):
    hooks = "from host import hookimpl, CommandDeclaration\n"
    declares = """
@hookimpl
def discover_commands():
    yield CommandDeclaration(("ship", "it"), {"name": "it", "description": "d",
        "entrypoint": "os:getcwd"})
"""
    made = install(
        {
            "plugins/shop/plugin.json": {"name": "shop", "hooks": "hooks.py"},
            "plugins/shop/hooks.py": hooks + declares,
        }
    )
    assert "ship it" in made.run("self", "list").stdout
    (made.root / "plugins/shop/hooks.py").write_text("raise ValueError('no')\n")
    done = made.run("ship", "it")
    assert (
        done.status,
        "unknown category ship; the plugin shop has it: " in done.stderr,
    ) == (
        2,
        True,
    )
