"""A plugin whose files are missing is named where users look for its commands."""

import json
import shutil

import pytest

from testing.plugin_sources import plugin_files, write_tree


@pytest.mark.slow
def test_listings_warn_once_and_an_unknown_word_names_the_plugin(install, tmp_path):
    made = install({"commands/demo/hello": "#!/bin/sh\necho hello\n"})
    px = write_tree(tmp_path / "px", plugin_files("px/go", "went"))
    assert made.run("self", "plugin", "add", str(px)).status == 0
    assert made.run("px", "go").all == (0, "went\n", "")
    shutil.rmtree(px)
    text = "its files are missing"
    named = f"the plugin px may have it: {text}; restore {px}, or run: "
    done = made.run("px", "go")
    assert (done.status, f"unknown command px; {named}" in done.stderr) == (2, True)
    # The word may be another one of the plugin's.
    other = made.run("dema", "hello").stderr
    assert f"unknown command dema; {named}" in other
    assert other.endswith("; did you mean cli demo?\n")
    listed = made.run()
    assert (listed.status, listed.stderr.count(text)) == (0, 1)
    assert made.run("demo", "hello").all == (0, "hello\n", "")
    [row] = json.loads(made.run("self", "plugin", "list", "--format", "json").stdout)[
        "plugins"
    ]
    assert (row["name"], row["state"]) == ("px", "missing")
    assert made.run("self", "plugin", "remove", "px", "--yes").status == 0
    assert text not in made.run().stderr


def test_each_missing_plugin_is_named(install):
    entry = {
        "name": "old",
        "kind": "git",
        "source": "https://h.example/old",
        "commit": "a" * 40,
    }
    registry = {"version": "1.0.0", "plugins": [entry]}
    made = install({"plugins/registry.json": registry})
    done = made.run("px", "go")
    assert done.status == 2
    assert (
        "unknown command px; the plugin old may have it: its files are missing"
        in done.stderr
    )


@pytest.mark.slow
def test_a_broken_plugin_is_named(install):
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
        "unknown command ship; the plugin shop may have it: " in done.stderr,
    ) == (
        2,
        True,
    )
