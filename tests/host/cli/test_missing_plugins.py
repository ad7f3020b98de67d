"""A plugin whose files are missing is named where users look for its commands."""

import json
import shutil


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
    assert "unknown category px; the plugin px may have it: its files are missing" in done.stderr
    listed = made.run()
    assert (listed.status, listed.stderr.count(text)) == (0, 1)
    assert made.run("demo", "hello").all == (0, "hello\n", "")
    [row] = json.loads(made.run("self", "plugin", "list", "--format", "json").stdout)["plugins"]
    assert (row["name"], row["state"]) == ("px", "missing")
    assert made.run("self", "plugin", "remove", "px", "--yes").status == 0
    assert text not in made.run().stderr
