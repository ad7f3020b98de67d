"""Tab: what is offered, by table, and through bash, zsh and fish on a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from host.tab.bash_line import split_line
from testing.installation import PROJECT, Made, command
from testing.shells import shell_path
from testing.terminal import Terminal

LINES = {
    "nothing": ("cli ", ["cli", ""], "", 0),
    "a word": ("cli de", ["cli", "de"], "", 0),
    "blanks": ("cli  a   b", ["cli", "a", "b"], "", 0),
    "single quotes": ("cli 'a b' c", ["cli", "a b", "c"], "", 0),
    "an open quote": ("cli 'a b", ["cli", "a b"], "'", 0),
    "an open double quote": ('cli "a \\" \\x', ["cli", 'a " \\x'], '"', 0),
    "escapes": ("cli a\\ b\\:c", ["cli", "a b:c"], "", 0),
    "an empty word": ("cli '' x", ["cli", "", "x"], "", 0),
    "another command before": ("ls | cli a", ["cli", "a"], "", 0),
    "a backslash at the end": ("cli a\\", ["cli", "a"], "", 0),
    "a quote in a word": ("cli --x='a b", ["cli", "--x=a b"], "'", 4),
    "a quote behind a closed one": ("cli 'a'\"b", ["cli", "ab"], '"', 1),
}


@pytest.mark.parametrize(("line", "words", "quote", "start"), LINES.values(), ids=LINES)
def test_a_line_of_bash(line: str, words: list[str], quote: str, start: int) -> None:
    assert split_line(line) == (words, quote, start)


ARGS = [
    {"name": "env", "choices": ["staging", "production"], "description": "Where"},
    {"name": "--fast", "short": "-f", "description": "Skip checks"},
    {"name": "--count", "short": "-n", "value": "N", "type": "integer"},
    {"name": "--unit", "value": "UNIT", "complete": "units"},
    {"name": "--into", "short": "-C", "value": "DIR", "type": "directory"},
    {"name": "--from", "value": "FILE", "type": "file"},
    {"name": "--text", "value": "TEXT", "complete": "texts"},
    {"name": "files...", "type": "file"},
]


MORE = [
    {"name": "stage", "choices": {"program": "stages"}},
    {
        "name": "--host",
        "short": "-H",
        "value": "HOST",
        "repeats": True,
        "conflicts": ["--all"],
    },
    {"name": "--all"},
    {"name": "--cache", "negatable": True},
    {"name": "--pin", "value": "PIN", "secret": True},
]


@pytest.fixture(scope="module")
def made(shared_install: Callable[..., Made]) -> Made:
    made = shared_install(
        {
            "commands/deploy/category.json": {
                "name": "Deploy",
                "description": "Bring it out",
            },
            "commands/deploy/start/command.json": command(
                description="Start: it's a unit", args=ARGS, aliases=["begin"]
            ),
            "commands/deploy/start/main.sh": "echo must-not-run >&2\n",
            "commands/deploy/start/units": "#!/bin/sh\n"
            "printf '%b\\n' 'web app' 'db:main' plain '' 'es\\033[1mc' 'bi\\0342\\0200\\0256di'\n",
            "commands/deploy/start/texts": "#!/bin/sh\n"
            "printf '%s\\n' \"it's here\" '$HOME x' '10 MB'\n",
            "commands/more/args/command.json": command(args=MORE),
            "commands/more/args/stages": "#!/bin/sh\necho dev\necho prod\n",
            "commands/more/kinds/command.json": command(
                args=[{"name": "kind", "choices": {"program": "file"}}]
            ),
            "commands/more/kinds/file": "#!/bin/sh\necho odd\n",
            "commands/deploy/secret/command.json": command(hidden=True),
            "commands/deploy/other/command.json": command(os=["mac", "linux"]),
            "commands/deploy/plain/command.json": command(description="Plain"),
            "commands/demo/hello/command.json": command(),
            "plugins/extra/demo/more/command.json": command(description="More"),
        }
    )
    made.run("demo", "hello")
    return made


def offered(made: Made, *words: str) -> list[str]:
    """Return the answer to zsh: what paths beside, then the candidates."""
    done = made.run("--complete", "zsh", *words)
    assert (done.status, done.stderr) == (0, "")
    return [line.partition("\t")[0] for line in done.stdout.splitlines()]


CASES: dict[str, tuple[list[str], list[str]]] = {
    "the root": ([""], ["none", "demo", "deploy", "help", "more", "self"]),
    "a beginning": (["de"], ["none", "demo", "deploy"]),
    "a category": (["deploy", ""], ["none", "begin", "other", "plain", "start"]),
    "a hidden word in full": (["deploy", "secret"], ["none", "secret"]),
    "a hidden word in part": (["deploy", "secre"], ["none"]),
    "a hidden word of self": (["self", "la"], ["none"]),
    "a plugin's": (["demo", ""], ["none", "hello", "more"]),
    "help": (["help", "deploy", "s"], ["none", "start"]),
    "global options": (["--f"], ["none", "--format"]),
    "a global option's values": (["--format", ""], ["none", "text", "json", "tree"]),
    "global options behind a category": (
        ["deploy", "--"],
        ["none", "--help", "--all", "--format", "--color"],
    ),
    "behind a global option": (["--format", "json", "dep"], ["none", "deploy"]),
    "no arguments": (["deploy", "plain", ""], ["files"]),
    "choices": (["deploy", "start", ""], ["none", "staging", "production"]),
    "an alias": (["deploy", "begin", "st"], ["none", "staging"]),
    "options": (["deploy", "start", "--c"], ["none", "--count"]),
    "short ones": (["deploy", "start", "-f"], ["none", "-f"]),
    "all options": (
        ["deploy", "start", "-"],
        [
            *("none", "--fast", "-f", "--count", "-n", "--unit"),
            *("--into", "-C", "--from", "--text", "--help"),
        ],
    ),
    "options behind a word": (
        ["deploy", "start", "staging", "--"],
        ["none", "--fast", "--count", "--unit", "--into", "--from", "--text"],
    ),
    "a directory behind =": (["deploy", "start", "--into=d"], ["directories --into="]),
    "a directory behind a short name": (["deploy", "start", "-Cd"], ["directories -C"]),
    "a directory behind short flags": (
        ["deploy", "start", "-fC=d"],
        ["directories -fC="],
    ),
    "a number behind a short name": (["deploy", "start", "-n3"], ["none"]),
    "a number": (["deploy", "start", "-n", ""], ["none"]),
    "a program": (
        ["deploy", "start", "--unit", ""],
        ["none", "web app", "db:main", "plain"],
    ),
    "with a sign": (["deploy", "start", "--unit=w"], ["none", "--unit=web app"]),
    "directories": (["deploy", "start", "--into", ""], ["directories"]),
    "files": (["deploy", "start", "staging", ""], ["files"]),
    "more files": (["deploy", "start", "staging", "a", "b", ""], ["files"]),
    "behind --": (["deploy", "start", "--", "p"], ["none", "production"]),
    "an option's value, flags before it": (["deploy", "start", "-fn", ""], ["none"]),
    "behind a negative number": (["deploy", "start", "-5", ""], ["files"]),
    "behind an unknown option": (
        ["deploy", "start", "--nope", "st"],
        ["none", "staging"],
    ),
    "an unknown word": (["nothing", "x", ""], ["files"]),
    "self": (["self", "comp"], ["none", "completion"]),
    "words of self": (["self", "env", "deploy", "p"], ["none", "plain"]),
    "options of self": (["self", "env", "--show"], ["none", "--show-secrets"]),
    "values of self": (["self", "completion", "f"], ["none", "fish"]),
    "a group of self": (["self", "plugin", "rem"], ["none", "remove"]),
    "words in a group of self": (
        ["self", "new", ""],
        ["none", "category", "command", "plugin"],
    ),
    "plugins": (["self", "plugin", "remove", ""], ["none", "extra"]),
    "formats": (["self", "list", "--format", ""], ["none", "text", "json", "tree"]),
    "a format behind words": (
        ["self", "env", "demo", "hello", "--format=j"],
        ["none", "--format=json"],
    ),
    "a word of self without arguments": (["self", "lock", ""], ["none"]),
    "help topics": (
        ["help", ""],
        [
            *(
                "none",
                "arguments",
                "colour",
                "definitions",
                "demo",
                "deploy",
                "env-files",
            ),
            *("exit-status", "help", "more", "options", "plugins"),
            *("precedence", "self"),
        ],
    ),
    "a help topic": (["help", "prec"], ["none", "precedence"]),
    "a help topic behind --help": (["--help", "prec"], ["none", "precedence"]),
    "no help topic in a category": (["help", "deploy", "prec"], ["none"]),
    "words behind --help": (["--help", "deploy", "st"], ["none", "start"]),
    "choices of a program": (["more", "args", "p"], ["none", "prod"]),
    "choices of a program named file": (["more", "kinds", ""], ["none", "odd"]),
    "a negation": (["more", "args", "--no"], ["none", "--no-cache"]),
    "what repeats": (["more", "args", "-Ha", "--h"], ["none", "--host"]),
    "a secret": (["more", "args", "--pin", ""], ["none"]),
    "behind = of a short one": (["more", "args", "-H=a", ""], ["none", "dev", "prod"]),
    "behind an option without its value": (
        ["more", "args", "--host", "--all", ""],
        ["none", "dev", "prod"],
    ),
    "help for self": (["help", "self", "plugin", "up"], ["none", "update"]),
}


@pytest.mark.parametrize(("words", "expected"), CASES.values(), ids=CASES)
def test_what_is_offered(made: Made, words: list[str], expected: list[str]) -> None:
    assert offered(made, *words) == expected


@pytest.mark.slow
def test_it_offers_what_listings_show(install: Callable[..., Made]) -> None:
    made = install(
        {
            "commands/full/one/command.json": command(),
            "commands/full/hollow/notes.txt": "",
            "commands/full/wrong/command.json": "{",
            "commands/full/inner/deep/command.json": command(),
            "commands/full/inner/category.json": {
                "name": "I",
                "hidden": True,
                "aliases": ["i"],
            },
            "commands/hollow/notes.txt": "",
            "commands/help/one/command.json": command(),
            "commands/self/one/command.json": command(),
            "plugins/extra/full/one/below/command.json": command(),
        }
    )
    for words, extra in (
        ((), {"help", "self"}),
        (("full",), set()),
        (("full", "one"), set()),
    ):
        listed = made.run("self", "list", *words, "--format", "json").stdout
        shown = json.loads(listed or '{"categories": [], "commands": []}')
        paths = [one["path"] for one in [*shown["categories"], *shown["commands"]]]
        words_below = {
            path[len(words)] for path in paths if len(path) == len(words) + 1
        }
        offer = set(offered(made, *words, "")) - {"none", "files"}
        assert offer == words_below | extra, words


def test_descriptions_for_zsh_and_fish_and_none_for_bash(made: Made) -> None:
    for shell in ("zsh", "fish"):
        assert (
            "start\tStart: it's a unit\n"
            in made.run("--complete", shell, "deploy", "").stdout
        )
    done = made.run("--complete", "bash", " \"':=", "cli deploy st")
    assert done.stdout == "none\nstart\n"


def test_a_word_that_is_called_as_the_first_line_is(
    install: Callable[..., Made],
) -> None:
    level = {"name": "level", "choices": ["none", "low"]}
    made = install(
        {
            "commands/a/none/command.json": command(),
            "commands/a/log/command.json": command(args=[level]),
        }
    )
    for line, words in (("cli a n", ["none"]), ("cli a log ", ["none", "low"])):
        done = made.run("--complete", "bash", "", line)
        assert done.stdout.splitlines() == ["none", *words]


def test_quotes_and_word_breaks_of_bash(made: Made) -> None:
    def said(line: str) -> list[str]:
        return made.run(
            "--complete", "bash", " \"'@><=;|&(:", line
        ).stdout.splitlines()[1:]

    assert said("cli deploy start --unit w") == ["web\\ app"]
    assert said("cli deploy start --unit 'web ") == ["web app"]
    assert said("cli deploy start --unit db:") == ["main"]
    assert said("cli deploy start --unit=pl") == ["plain"]


def typed(
    shell: list[str], environ: dict[str, str], load: str, line: str, until: str
) -> str:
    """Type into a shell on a terminal: a line, and one after it is done; return what it shows."""
    child, terminal = pty.fork()
    if not child:
        os.execve(shell[0], shell, environ)
    shown = b""

    def read(text: str, mark: str, quiet: float) -> None:
        """Type a text; read until `mark` is shown, and then nothing for `quiet` seconds."""
        nonlocal shown
        os.write(terminal, text.encode())
        end = time.monotonic() + 60
        while time.monotonic() < end:
            marked = mark in shown.decode("utf-8", "replace")
            if select.select([terminal], [], [], quiet if marked else 0.1)[0]:
                shown += os.read(terminal, 65536)
            elif marked:
                break

    try:
        read(f"{load}echo rea''dy\n", "ready", 0.2)
        read(line, until, 0)
        return shown.decode("utf-8", "replace")
    finally:
        os.close(terminal)
        os.kill(child, 9)
        os.waitpid(child, 0)


def shell_environ(made: Made, home: Path) -> dict[str, str]:
    path = f"{made.launcher.parent}:{os.environ['PATH']}"
    return {
        "PATH": path,
        "HOME": str(home),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "PS1": "> ",
    }


START = {
    "bash": ["--norc", "--noprofile", "-i"],
    "zsh": ["-f", "-i"],
    "fish": ["--no-config", "-i"],
}
LOAD = {
    "bash": 'eval "$(cli self completion bash)"\n',
    "zsh": 'eval "$(cli self completion zsh)"\n',
    "fish": "cli self completion fish | source\n",
}
TYPED = {
    "a command": ("cli deploy sta\t", "cli deploy start"),
    "a word with a space": ("cli deploy start --unit we\t", "web\\ app"),
    "a choice": ("cli deploy start prod\t", "production"),
    "a help topic": ("cli help prec\t", "precedence"),
    "an open quote": ("cli deploy start --unit 'we\t", "'web app'"),
    "an open double quote": ('cli deploy start "prod\t', '"production"'),
    "a word of a path in an open quote": ("cli deploy 'sta\t", "cli deploy 'start'"),
    "an open quote behind quoted words": (
        "cli 'deploy' \"start\" 'prod\t",
        "'production'",
    ),
    "a blank in an open quote": ('cli deploy start --unit "web a\t', '"web app"'),
    "a file behind =": ("cli deploy start --from=tabs/o\t", "--from=tabs/only"),
    "a directory behind =": ("cli deploy start --into=ta\t", "--into=tabs"),
    "a directory behind a short name": ("cli deploy start -Cta\t", "-Ctabs"),
}


# Only in bash does the program itself quote what is inserted.
IN_BASH = {
    "an open quote behind =": ('cli deploy start --text="10\t', '--text="10 MB"'),
    "an apostrophe in an open quote": (
        "cli deploy start --text 'it\t",
        r"'it'\''s here'",
    ),
    "a dollar in an open quote": (r'cli deploy start --text "\$' + "\t", r'"\$HOME x"'),
}


@pytest.mark.parametrize(("line", "shown"), TYPED.values(), ids=TYPED)
@pytest.mark.parametrize("shell", START)
@pytest.mark.sampled
def test_in_a_real_shell(
    made: Made, tmp_path: Path, shell: str, line: str, shown: str
) -> None:
    environ = shell_environ(made, tmp_path)
    (tmp_path / "tabs").mkdir()
    (tmp_path / "tabs/only").touch()
    load = f"cd {tmp_path}\n{LOAD[shell]}"
    assert shown in typed(
        [shell_path(shell), *START[shell]], environ, load, line, shown
    )


@pytest.mark.parametrize(("line", "shown"), IN_BASH.values(), ids=IN_BASH)
def test_open_quotes_in_bash(made: Made, tmp_path: Path, line: str, shown: str) -> None:
    bash, environ = [shell_path("bash"), *START["bash"]], shell_environ(made, tmp_path)
    assert shown in typed(bash, environ, LOAD["bash"], line, shown)


@pytest.mark.slow
@pytest.mark.night
def test_zsh_finds_what_self_completion_prints(made: Made, tmp_path: Path) -> None:
    (tmp_path / "_cli").write_text(made.run("self", "completion", "zsh").stdout)
    load = f"fpath=({tmp_path} $fpath); autoload -Uz compinit && compinit -u\n"
    line, shown = TYPED["a choice"]
    zsh = [shell_path("zsh"), *START["zsh"]]
    assert shown in typed(zsh, shell_environ(made, tmp_path), load, line, shown)


@pytest.mark.slow
def test_zsh_shows_dashes_only_before_a_description(made: Made, tmp_path: Path) -> None:
    zsh, environ = [shell_path("zsh"), *START["zsh"]], shell_environ(made, tmp_path)
    shown = typed(zsh, environ, LOAD["zsh"], "cli deploy start --\t", "-- Skip checks")
    assert "--count" in shown
    assert "--count  --" not in shown


SHARE = PROJECT / "release" / "share"
PACKAGED = {
    "zsh": f"fpath=({SHARE}/zsh/site-functions $fpath); autoload -Uz compinit && compinit -u\n",
    "fish": f"set -p fish_complete_path {SHARE}/fish/vendor_completions.d\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", PACKAGED)
def test_where_a_shell_finds_what_packagers_installed(
    made: Made, tmp_path: Path, shell: str
) -> None:
    path = f"{made.launcher.parent}:{os.environ['PATH']}"
    environ = {"PATH": path, "HOME": str(tmp_path), "TERM": "xterm", "LANG": "C.UTF-8"}
    line, shown = TYPED["a choice"]
    assert shown in typed(
        [shell_path(shell), *START[shell]], environ, PACKAGED[shell], line, shown
    )


START_UP_FILES = {
    "bash": ".bashrc",
    "zsh": ".zshrc",
    "fish": ".config/fish/conf.d/cli.fish",
    "nushell": ".config/nushell/autoload/cli.nu",
    "elvish": ".config/elvish/rc.elv",
}


@pytest.mark.parametrize("shell", START_UP_FILES)
def test_installed_once_and_taken_away_whole(
    made: Made, tmp_path: Path, shell: str
) -> None:
    file = tmp_path / START_UP_FILES[shell]
    has_file = shell in ("fish", "nushell")  # of its own for each program
    if not has_file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("mine=1")
    env = {"HOME": str(tmp_path)}
    assert made.run("self", "completion", shell, "--install", env=env).status == 0
    text = file.read_text()
    assert made.run("self", "completion", shell, "--install", env=env).status == 0
    assert file.read_text() == text
    assert made.run("self", "completion", shell, "--uninstall", env=env).status == 0
    assert not file.exists() if has_file else file.read_text() == "mine=1\n"
    again = made.run("self", "completion", shell, "--uninstall", env=env)
    assert again.all == (0, f"removed from {file}\n", "")


def test_the_file_of_fish_moves_from_where_it_was(made: Made, tmp_path: Path) -> None:
    former = tmp_path / ".config/fish/completions/cli.fish"
    former.parent.mkdir(parents=True)
    line = "command -v cli >/dev/null; and cli self completion fish | source # completion of cli\n"
    former.write_text(line)
    env = {"HOME": str(tmp_path)}
    assert made.run("self", "completion", "fish", "--install", env=env).status == 0
    assert not former.exists()
    assert (tmp_path / START_UP_FILES["fish"]).exists()
    former.write_text(line)
    assert made.run("self", "completion", "fish", "--uninstall", env=env).status == 0
    assert not [*tmp_path.rglob("*.fish")]


NEW_SHELLS = {  # what each shows for a Tab behind `cli deploy`, and its program
    "bash": ("bash", "begin  other"),
    "zsh": ("zsh", "it's a unit"),
    "fish": ("fish", "it's a unit"),
    "nushell": ("nu", "it's a unit"),
    "elvish": ("elvish", "it's a unit"),
}


@pytest.mark.parametrize("shell", NEW_SHELLS)
def test_a_new_shell_completes(made: Made, tmp_path: Path, shell: str) -> None:
    program, shown = NEW_SHELLS[shell]
    path, environ = shell_path(program), shell_environ(made, tmp_path)
    assert made.run("self", "completion", shell, "--install", env=environ).status == 0
    with Terminal([path], environ) as terminal:
        terminal.settle()
        terminal.type("cli deploy \t\t" if shell == "bash" else "cli deploy \t")
        terminal.wait_for(shown)


def test_nushell_asks_the_completer_of_other_programs(
    made: Made, tmp_path: Path
) -> None:
    path, environ = shell_path("nu"), shell_environ(made, tmp_path)
    made.run("self", "completion", "nushell", "--install", env=environ)
    config = tmp_path / ".config/nushell/config.nu"
    config.write_text(
        '$env.config.completions.external.completer = {|spans| [{value: "other", '
        'description: $"of ($spans.0)"}] }\n'
    )
    with Terminal([path], environ) as terminal:
        terminal.settle()
        terminal.type("git x\t")
        terminal.wait_for("git other")


def test_installed_or_taken_away_but_not_both(made: Made) -> None:
    both = made.run("self", "completion", "bash", "--install", "--uninstall")
    assert both.all == (
        2,
        "",
        "cli: self completion: --uninstall and --install cannot be given together\n",
    )


def test_two_programs_side_by_side(install: Callable[..., Made]) -> None:
    stubs = [
        install(program=name).run("self", "completion", "bash").stdout
        for name in ("cli", "acme.x")
    ]
    assert "complete -F _cli_complete cli\n" in stubs[0]
    assert "complete -F _acme.x_complete acme.x\n" in stubs[1]
