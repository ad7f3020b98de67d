"""The number in README about Raycast's collection of scripts: the same count on a small sample.

The scripts of the sample are ours. They have the headers of that collection: comments with #, with
// and with --, descriptions before and behind other tags, titles without a description, and the
kinds of scripts that do not count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from testing.installation import PROJECT, Made

_SAMPLE = {
    # Their authors' descriptions are shown.
    "browsing/open-page.sh": """\
#!/bin/bash

# Required parameters:
# @raycast.schemaVersion 1
# @raycast.title Open Page
# @raycast.mode silent

# Optional parameters:
# @raycast.icon 🌐
# @raycast.argument1 { "type": "text", "placeholder": "page", "percentEncoded": true }

# Documentation:
# @raycast.author Ada
# @raycast.description Open a page in the default browser, and "pin" it.

open "https://example.com/$1"
""",
    "system/quit-all.applescript": """\
#!/usr/bin/osascript

# @raycast.title Quit All
# @raycast.author Ada
# @raycast.description Quit all applications.
# @raycast.schemaVersion 1
# @raycast.mode silent

tell application "Finder" to quit
""",
    "system/volume.applescript": """\
#!/usr/bin/osascript

-- Required parameters:
-- @raycast.schemaVersion 1
-- @raycast.title Volume
-- @raycast.mode silent
-- Documentation:
-- @raycast.description Set the volume (0-100)

set volume 5
""",
    "web/shorten.js": """\
#!/usr/bin/env node

// Required parameters:
// @raycast.schemaVersion 1
// @raycast.title Shorten
// @raycast.mode compact
//
// Documentation:
// @raycast.description Shorten the address in the clipboard

console.log("short");
""",
    "system/battery.swift": """\
#!/usr/bin/swift

// @raycast.schemaVersion 1
// @raycast.title Battery
// @raycast.description Show the state of the battery
// @raycast.mode inline

print("full")
""",
    "math/round.py": """\
#!/usr/bin/env python3

# Dependency: none
# Install nothing.

# @raycast.schemaVersion 1
# @raycast.title Round
# @raycast.mode fullOutput
# @raycast.packageName Math
# @raycast.description Round a number

print(1)
""",
    # Without a description, the author's title is shown.
    "math/random.rb": """\
#!/usr/bin/env ruby

# @raycast.schemaVersion 1
# @raycast.title Random Number
# @raycast.mode silent

puts 4
""",
    # These do not count: a name with a blank, and a line of code above the header.
    "system/Network Info.sh": "#!/bin/bash\n# @raycast.schemaVersion 1\n# @raycast.title Network\n",
    "system/late.sh": """\
#!/bin/bash

# This script needs the shortcut
https://example.com/shortcuts/1

# @raycast.schemaVersion 1
# @raycast.title Late
# @raycast.description Is not read
""",
}


def test_descriptions_of_a_collection(
    install: Callable[..., Made], tmp_path: Path
) -> None:
    collection = tmp_path / "collection"
    for name, text in _SAMPLE.items():
        file = collection / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
    made = install()
    added = made.run("self", "plugin", "add", str(collection), "--yes")
    assert added.status == 0, added.stderr
    listing = made.run("self", "list", "--all", "--format", "json")
    shown = {
        "/".join(entry["path"]): entry["description"]
        for entry in json.loads(listing.stdout)["commands"]
    }
    right = 0
    for name, text in _SAMPLE.items():
        written = re.search(r"@raycast\.description (.+)", text)
        written = written or re.search(r"@raycast\.title (.+)", text)
        assert written
        # The word has no extension, except those of kinds of scripts that bash cannot run.
        description = shown.get(name) or shown.get(name.rpartition(".")[0], "")
        right += description.rstrip(".") == written[1].rstrip(".")
    assert (right, len(_SAMPLE)) == (7, 9), json.dumps(shown)


def test_the_pages_have_one_number() -> None:
    for page in ("README.md", "docs/coming-from/scripts.md"):
        text = (PROJECT / page).read_text()
        assert {"853", "860"} <= {*re.findall(r"\b8\d\d\b", text)}, page
