"""Where an installation is, from the executable and the environment; no file is read."""

import os

import pytest

from host.errors import InstallationError
from host.installation import Layout, find_layout, program_name

# name: (executable, environment) → root, config file, the launcher in CLI_RUN
EXPORTED = {
    "COMMAND_NAME": "x",
    "CORE_DIR": "/a/core",
    "CLI_DIR": "/a",
    "GLOBAL_CONFIG_FILE": "/a/core/cli.json",
    "CLI_RUN": "/a:::",
}
WITH_T = {**EXPORTED, "GLOBAL_CONFIG_FILE": "/t"}
IN_X = {**EXPORTED, "CLI_DIR": "/x", "GLOBAL_CONFIG_FILE": "/x/core/cli.json"}
LAYOUTS = {
    "own": ("/a/core/cli", {}, "/a", "", "/a"),
    "empty CLI_DIR": (
        "/a/core/cli",
        {"CLI_DIR": "", "GLOBAL_CONFIG_FILE": ""},
        "/a",
        "",
        "/a",
    ),
    "CLI_DIR": ("/a/core/cli", {"CLI_DIR": "/x"}, "/x", "", "/a"),
    "CLI_DIR is its own": ("/a/core/cli", {"CLI_DIR": "/a"}, "/a", "", "/a"),
    "CLI_DIR is cleaned": ("/a/core/cli", {"CLI_DIR": "/x/./y/../"}, "/x", "", "/a"),
    "root": ("/a/core/cli", {"CLI_DIR": "/"}, "/", "/core/cli.json", "/a"),
    "config": ("/a/core/cli", {"GLOBAL_CONFIG_FILE": "/t.json"}, "/a", "/t.json", "/a"),
    "both": (
        "/a/core/cli",
        {"CLI_DIR": "/x", "GLOBAL_CONFIG_FILE": "/t"},
        "/x",
        "/t",
        "/a",
    ),
    "CLI_DIR and another CORE_DIR": (
        *("/a/core/cli", {"CLI_DIR": "/x", "CORE_DIR": "/y/core"}),
        *("/x", "", "/a"),
    ),
    "what a run exports, without CLI_RUN": (
        *("/b/core/beta", {**EXPORTED, "CLI_RUN": ""}),
        *("/a", "", "/b"),
    ),
    "CLI_RUN that cannot be parsed": (
        *("/b/core/beta", {**EXPORTED, "CLI_RUN": "/a::: /b"}),
        *("/a", "", "/b"),
    ),
    "CLI_RUN with a relative root": (
        *("/b/core/beta", {**EXPORTED, "CLI_RUN": "a:::"}),
        *("/a", "", "/b"),
    ),
    "inherited, same program": ("/a/core/cli", EXPORTED, "/a", "", "/a"),
    "inherited, other program": ("/b/core/beta", EXPORTED, "/b", "", "/b"),
    "inherited, program of the same name": ("/b/core/cli", EXPORTED, "/b", "", "/b"),
    "inherited, CLI_DIR set since": (
        *("/b/core/beta", {**EXPORTED, "CLI_DIR": "/x"}),
        *("/x", "", "/b"),
    ),
    "inherited, CLI_DIR unset since": (
        *("/b/core/beta", {**EXPORTED, "CLI_DIR": ""}),
        *("/b", "", "/b"),
    ),
    "inherited, config set since": ("/b/core/beta", WITH_T, "/b", "/t", "/b"),
    "inherited CLI_DIR, same program": (
        *("/c/core/cli", {**IN_X, "CLI_RUN": "/x:/c::"}),
        *("/x", "", "/c"),
    ),
    "inherited CLI_DIR, same program without an installation": (
        *("/usr/bin/c", {**IN_X, "CLI_RUN": "/x:c::"}),
        *("/x", "", "c"),
    ),
    "inherited CLI_DIR, other program": (
        *("/b/core/cli", {**IN_X, "CLI_RUN": "/x:/c::"}),
        *("/b", "", "/b"),
    ),
    "inherited CLI_DIR, other program without an installation": (
        *("/usr/bin/b", {**IN_X, "CLI_RUN": "/x:c::", "XDG_DATA_HOME": "/d"}),
        *("/d/b", "", "b"),
    ),
    "inherited CLI_DIR, the installation's own program": (
        *("/x/core/cli", {**IN_X, "CLI_RUN": "/x:/c::"}),
        *("/x", "", "/c"),
    ),
    "inherited CLI_DIR, same program behind another": (
        *("/c/core/cli", {**EXPORTED, "CLI_RUN": "/x:/c:: /a:::"}),
        *("/x", "", "/c"),
    ),
    "inherited config, same program": (
        *("/a/core/cli", {**WITH_T, "CLI_RUN": "/a::/t:"}),
        *("/a", "/t", "/a"),
    ),
    "inherited config, other program": (
        *("/b/core/beta", {**WITH_T, "CLI_RUN": "/a::/t:"}),
        *("/b", "", "/b"),
    ),
    "inherited config, same program behind another": (
        *("/c/core/cli", {**EXPORTED, "CLI_RUN": "/c::/t: /a:::"}),
        *("/c", "/t", "/c"),
    ),
    "inherited config, CLI_DIR set since": (
        *("/a/core/cli", {**WITH_T, "CLI_DIR": "/x", "CLI_RUN": "/a::/t:"}),
        *("/x", "/t", "/a"),
    ),
    "no launcher, XDG": ("/usr/bin/c", {"XDG_DATA_HOME": "/d"}, "/d/c", "", "c"),
    "no launcher, relative XDG": (
        *("/usr/bin/c", {"XDG_DATA_HOME": "d", "HOME": "/h"}),
        *("/h/.local/share/c", "", "c"),
    ),
    "no launcher, HOME": ("/usr/bin/c", {"HOME": "/h"}, "/h/.local/share/c", "", "c"),
    "python -m": (
        "/x/host/__main__.py",
        {"HOME": "/h"},
        "/h/.local/share/cli",
        "",
        "cli",
    ),
}


@pytest.mark.parametrize(
    ("executable", "environ", "root", "config", "launcher"),
    LAYOUTS.values(),
    ids=LAYOUTS.keys(),
)
def test_layout(executable, environ, root, config, launcher):
    found = find_layout(executable, environ)
    assert (found.root, found.config_file, found.launcher) == (
        root,
        config or f"{root.rstrip('/')}/core/cli.json",
        launcher,
    )
    assert found.core_dir == os.path.join(root, "core")
    assert found.lib_dir == os.path.join(root, "core", "lib")


def test_settings_and_lock_are_at_their_places():
    found = Layout("cli", "/a", "/a/core/cli.json")
    assert (found.settings_file, found.lock_file) == (
        "/a/config/settings.conf",
        "/a/cli.lock",
    )


def test_program_names():
    names = ["/x/acme", "acme", "", "-c", "-m", "/x/__main__.py"]
    assert [program_name(one) for one in names] == [
        "acme",
        "acme",
        "cli",
        "cli",
        "cli",
        "cli",
    ]


def test_find_layout_in_a_deleted_directory(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for executable, environ in (("cli", {}), ("/a/core/cli", {"CLI_DIR": "x"})):
        with pytest.raises(InstallationError, match="current directory was deleted"):
            find_layout(executable, environ)
