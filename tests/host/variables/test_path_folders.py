"""The key `path`: scripts find their neighbours, and every lookup of the caller stays as it was."""

import json
import os
import shutil
import sys

import pytest

from host.processes.programs import DEFAULT_PATH
from host.variables.path_folders import PathFolder, append_folders, remove_folders

CALLS = "#!/bin/sh\nops-b\n"
NEIGHBOUR = '#!/bin/sh\necho "neighbour"\n'
SHOWS = '#!/bin/sh\n/bin/sh -c \'printf "%s\\n" "$PATH"\'\n'


def folders(*paths):
    return [PathFolder(path, "f: path") for path in paths]


APPENDED = {
    "after the caller's": ("/usr/bin:/bin", ["/x"], "/usr/bin:/bin:/x"),
    "several": ("/bin", ["/x", "/y"], "/bin:/x:/y"),
    "none twice": ("/bin:/x", ["/x", "/y", "/y"], "/bin:/x:/y"),
    "no PATH": (None, ["/x"], f"{DEFAULT_PATH}:/x"),
    "an empty PATH means the current directory": ("", ["/x"], ":/x"),
    "an empty last part, too": ("/bin:", ["/x"], "/bin::/x"),
}


@pytest.mark.parametrize(("value", "paths", "result"), APPENDED.values(), ids=APPENDED)
def test_append_and_remove(value, paths, result):
    path, added = append_folders(value, folders(*paths))
    assert path == result
    assert remove_folders(path, added) == (DEFAULT_PATH if value is None else value)


def test_remove_keeps_what_the_script_put_first():
    assert remove_folders("/x:/bin:/x", ["/x"]) == "/x:/bin"
    assert remove_folders("/bin", ["/x"]) == "/bin"


@pytest.fixture
def scripts(install):
    """An installation, and a folder of scripts beside it that call each other."""
    made = install({"core/cli.json": {"name": "Test", "version": "1.0.0"}})
    made.write({"../bin/ops-a": CALLS, "../bin/ops-b": NEIGHBOUR, "../bin/path": SHOWS})
    return made


def add(made, *options):
    done = made.run(
        "self", "plugin", "add", made.root.parent / "bin", "--yes", *options
    )
    assert done.status == 0, done.stderr
    return done.stdout


def entry(made):
    return json.loads((made.root / "plugins/registry.json").read_text())["plugins"][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("--under", "ops"), ("--prefix", "ops-"), ("--split", "-")]
)
def test_add_records_the_folder_of_plain_scripts(scripts, options):
    shown = add(scripts, *options)
    assert "folders that a run appends to PATH: .\n" in shown
    assert entry(scripts)["path"] == ["."]
    words = {
        "": ("ops-a",),
        "--under": ("ops", "ops-a"),
        "--prefix": ("a",),
        "--split": ("ops", "a"),
    }
    run = words[options[0] if options else ""]
    assert scripts.run(*run).all == (0, "neighbour\n", "")


@pytest.mark.slow
def test_no_path(scripts):
    assert "PATH" not in add(scripts, "--no-path")
    assert entry(scripts)["path"] == []
    assert scripts.run("ops-a").status == 127


DECIDED = {
    "plugin.json has scripts": {"plugin.json": {"name": "bin", "scripts": {}}},
    "there is a definition": {
        "db/command.json": {"name": "db", "description": "d", "script": "m"}
    },
}


@pytest.mark.parametrize("files", DECIDED.values(), ids=DECIDED)
def test_an_author_who_describes_the_plugin_decides(scripts, files):
    scripts.write({f"../bin/{name}": content for name, content in files.items()})
    assert "PATH" not in add(scripts)
    assert entry(scripts)["path"] is None


@pytest.mark.slow
def test_plugin_json_has_the_key(scripts):
    scripts.write({"../bin/plugin.json": {"name": "bin", "scripts": {}, "path": ["."]}})
    assert "folders that a run appends to PATH: .\n" in add(scripts)
    assert scripts.run("ops-a").all == (0, "neighbour\n", "")


COMMAND = {"name": "a", "description": "d", "entrypoint": "main.sh"}


def test_the_nearest_file_comes_first(scripts):
    """And the caller's folders come before all of them, in the same order."""
    scripts.write(
        {
            "commands/db/category.json": {"name": "db", "path": ["lib", "."]},
            "commands/db/show/command.json": COMMAND | {"path": ["../tools", "."]},
            "commands/db/show/main.sh": SHOWS,
            "commands/db/lib/.keep": "",
        }
    )
    top = f"{scripts.root.resolve()}/commands/db"
    expected = f"/usr/bin:/bin:{top}/tools:{top}/show:{top}/lib:{top}\n"
    env = {"PATH": "/usr/bin:/bin"}
    assert scripts.run("db", "show", env=env).all == (0, expected, "")
    shown = scripts.run(
        "self", "env", "db", "show", "PATH", "--format", "json", env=env
    )
    [row] = json.loads(shown.stdout)
    assert row["value"] == expected.strip()
    assert row["source"] == f"{top}/show/command.json: path, {top}/category.json: path"
    assert row["shadows"] == [{"value": "/usr/bin:/bin", "source": "system", "rank": 1}]
    [listed] = json.loads(scripts.run("db", "--format", "json").stdout)["commands"]
    expected = [f"{top}/tools", f"{top}/show", f"{top}/lib", top]
    assert listed["path_folders"] == expected


@pytest.mark.slow
def test_the_folders_of_a_linked_plugin_are_those_of_the_user(scripts, tmp_path):
    folder = scripts.root.parent / "bin"
    (tmp_path / "link").symlink_to(folder)
    assert scripts.run("self", "plugin", "add", tmp_path / "link", "--yes").status == 0
    listed, *_ = json.loads(scripts.run("--format", "json").stdout)["commands"]
    assert listed["path_folders"] == [str(folder.resolve())]


@pytest.mark.slow
def test_a_command_of_a_project_and_its_project_json(scripts, tmp_path):
    shop = tmp_path / "shop"
    scripts.write(
        {
            f"{shop}/.cli/commands/call": CALLS,
            f"{shop}/.cli/project.json": {"name": "shop", "path": ["../tools"]},
            f"{shop}/tools/ops-b": NEIGHBOUR,
        }
    )
    assert scripts.run("self", "trust", shop, "--yes").status == 0
    assert scripts.run("call", cwd=shop).all == (0, "neighbour\n", "")


def test_without_a_path_the_default_path_comes_first(scripts):
    scripts.write(
        {
            "commands/show": f'#!/bin/sh\n# /// command\n# {{"path": ["."]}}\n# ///\n{SHOWS}'
        }
    )
    done = scripts.run("show", executable=None, env={"PATH": "/usr/bin:/bin"})
    assert done.status == 0
    program = (
        f"import os; del os.environ['PATH']; os.execv({str(scripts.launcher)!r}, "
        "['cli', 'show'])"
    )
    env = {"HOME": str(scripts.home)}
    done = scripts.run("-c", program, executable=sys.executable, env=env)
    assert done.all == (0, f"{DEFAULT_PATH}:{scripts.root.resolve()}/commands\n", "")


@pytest.mark.slow
def test_every_lookup_of_the_caller_gives_the_same_file(scripts):
    """A script named like a program does not hide the program, also for the interpreter."""
    scripts.write(
        {
            "../bin/ls": "#!/bin/sh\necho wrong\n",
            "../bin/bash": "#!/bin/sh\necho wrong\n",
        }
    )
    scripts.write({"../bin/which-ls": "#!/usr/bin/env bash\ncommand -v ls bash\n"})
    add(scripts)
    env = {"PATH": "/usr/bin:/bin"}
    found = "".join(
        f"{shutil.which(name, path=env['PATH'])}\n" for name in ("ls", "bash")
    )
    assert scripts.run("which-ls", env=env).all == (0, found, "")


@pytest.mark.slow
def test_an_inner_run_takes_the_folders_off(scripts):
    """Also if the script has put folders of its own at both ends."""
    add(scripts)
    cli = scripts.launcher
    scripts.write(
        {
            "commands/plain": SHOWS,
            "../bin/inner": f"#!/bin/sh\nexport PATH=/first:$PATH:/last\n{cli} plain\n{cli} path\n",
        }
    )
    top = scripts.root.parent.resolve() / "bin"
    done = scripts.run("inner", env={"PATH": "/usr/bin:/bin"})
    plain = "/first:/usr/bin:/bin:/last"
    assert done.all == (0, f"{plain}\n{plain}:{top}\n", "")


def test_an_inner_run_without_a_path_of_the_caller(scripts):
    """PATH, which the outer run has set, is unset again for the inner one."""
    scripts.write(
        {
            "commands/outer": '#!/bin/sh\n# /// command\n# {"path": ["."]}\n# ///\n'
            f"{scripts.launcher} inner\n",
            "commands/inner": "#!/usr/bin/python3\nimport os\nprint(os.environ.get('PATH'))\n",
        }
    )
    program = (
        f"import os; del os.environ['PATH']; os.execv({str(scripts.launcher)!r}, "
        "['cli', 'outer'])"
    )
    done = scripts.run("-c", program, executable=sys.executable)
    assert done.all == (0, "None\n", "")


@pytest.mark.slow
def test_a_required_program_may_be_a_neighbour(scripts):
    scripts.write({"../bin/plugin.json": {"name": "bin", "scripts": {}, "path": ["."]}})
    text = '#!/bin/sh\n# /// command\n# {"requires": ["ops-b"]}\n# ///\nops-b\n'
    scripts.write({"../bin/needs": text})
    add(scripts)
    assert scripts.run("needs").all == (0, "neighbour\n", "")


def escapes(made):
    """Link from the commands to a small directory outside: lint walks through all of it."""
    (made.root.parent / "elsewhere/bin").mkdir(parents=True, exist_ok=True)
    os.symlink("../../../elsewhere", made.root / "commands/db/out")


REFUSED = {
    "absolute": (
        "/usr/bin",
        '"path": /usr/bin must be relative to the folder of this file',
    ),
    "a colon": (
        "a:b",
        '"path": a:b contains a colon, which separates the folders in PATH',
    ),
    "empty": ("", '"path": must not contain ""; for the folder of this file, use "."'),
    "outside": ("../../../..", "which is outside the plugin, project or installation"),
    "outside, through a link": (
        "../out/bin",
        "which is outside the plugin, project or installation",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "text"), REFUSED.values(), ids=REFUSED)
def test_a_refused_folder(scripts, folder, text):
    scripts.write(
        {
            "commands/db/show/command.json": COMMAND | {"path": [folder]},
            "commands/db/show/main.sh": SHOWS,
        }
    )
    escapes(scripts)
    done = scripts.run("db", "show")
    assert (done.status, done.stdout) == (1, "")
    assert text in done.stderr
    assert text in scripts.run("self", "lint").stdout


@pytest.mark.parametrize("folder", ["/usr/bin", "../..", "a:b", 3])
def test_a_refused_folder_of_a_plugin(scripts, folder):
    scripts.write(
        {"../bin/plugin.json": {"name": "bin", "scripts": {}, "path": [folder]}}
    )
    done = scripts.run("self", "plugin", "add", scripts.root.parent / "bin", "--yes")
    assert done.status == 1
    assert '"path"' in done.stderr


def test_lint_reports_a_missing_folder(scripts):
    scripts.write(
        {
            "commands/show": '#!/bin/sh\n# Show.\n# /// command\n# {"path": ["lib"]}\n# ///\n'
        }
    )
    done = scripts.run("self", "lint")
    assert done.status == 1
    assert "/commands/lib is not a directory" in done.stdout
