"""`.env` files: python-dotenv's syntax, our expansion, and everything that is no file."""

import io
import json
import os
import shutil
import sys

import pytest
from dotenv.parser import parse_stream
from hypothesis import given
from hypothesis import strategies as st

from host.errors import Problem, SourceError
from host.variables.dotenv import SIZE_LIMIT, parse_env, read_env_text
from host.variables.expand import expand
from host.words import is_name
from testing.growth import grows_in_proportion
from testing.installation import command

VALUES = {"A": "one", "HOME": "/home/u", "EMPTY": ""}


def read(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables of a `.env` text, expanded with VALUES, and the warnings."""
    problems: list[Problem] = []
    found: dict[str, str] = {}
    for name, value, literal, _ in parse_env(
        "F", text.replace("\r\n", "\n"), problems.append
    ):
        if literal:
            found[name] = value
        else:
            found[name] = expand(value, lambda one: found.get(one, VALUES.get(one)))
    return found, list(map(str, problems))


LINES = {
    "plain": ("X=1", "1"),
    "empty": ("X=", ""),
    "quoted empty": ('X=""', ""),
    "single-quoted empty": ("X=''", ""),
    "double": ('X="a b"', "a b"),
    "single": ("X='a b'", "a b"),
    "unquoted with blanks": ("X=a b", "a b"),
    "blanks around": ("  X = a  ", "a"),
    "tab around": ("\tX\t=\ta\t", "a"),
    "export": ("export X=a", "a"),
    "export and blanks": ("export   X = 'a'", "a"),
    "comment after": ("X=a # no", "a"),
    "hash inside": ("X=a#b", "a#b"),
    "comment after quotes": ('X="a" # no', "a"),
    "hash in quotes": ('X="a # b"', "a # b"),
    "equals inside": ("X=a=b==", "a=b=="),
    "no blank before the value": ("X= a", "a"),
    "reference": ("X=$A", "one"),
    "reference in double": ('X="$A ${A}"', "one one"),
    "no reference in single": ("X='$A ${A} \\$'", "$A ${A} \\$"),
    "default": ("X=${NONE:-d e}", "d e"),
    "default in double": ('X="${NONE:-d}"', "d"),
    "home": ("X=$HOME/x", "/home/u/x"),
    "escaped dollar": ("X=\\$A", "$A"),
    "escaped dollar in double": ('X="\\$A"', "$A"),
    "escaped backslash": ("X=a\\\\b", "a\\b"),
    "escaped backslash in double": ('X="a\\\\b"', "a\\b"),
    "escaped backslash before n": ('X="a\\\\n"', "a\\n"),
    "escaped backslash before reference": ('X="\\\\$A"', "\\one"),
    "newline escape": ('X="a\\nb"', "a\nb"),
    "all escapes": ('X="\\a\\b\\f\\n\\r\\t\\v\\"\\\'"', "\a\b\f\n\r\t\v\"'"),
    "no escapes unquoted": ("X=a\\nb", "a\\nb"),
    "no escapes in single": ("X='a\\nb'", "a\\nb"),
    "backslashes in single": ("X='C:\\\\share\\x'", "C:\\\\share\\x"),
    "backslashes at the end of single": ("X='C:\\\\'", "C:\\\\"),
    "quote in single": ("X='it\\'s'", "it's"),
    "other escape stays": ('X="a\\qb"', "a\\qb"),
    "multi-line": ('X="a\nb"', "a\nb"),
    "multi-line single": ("X='a\nb'", "a\nb"),
    "not executed": ("X=$(id) `id` *", "$(id) `id` *"),
    "not executed, with a comment": ("X=`id` # `x", "`id`"),
    "a backtick inside": ("X=pa`ss # no", "pa`ss"),
    "escaped backticks": ("X=\\`id # `", "\\`id"),
    "a backtick in single": ("X='`id # no'", "`id # no"),
    "not executed in double": ('X="$(id) `id` ~"', "$(id) `id` ~"),
    "quotes inside": ("X=a\"b'c", "a\"b'c"),
    "quoted name": ("'X'=a", "a"),
    "umlauts": ("X=ä✓", "ä✓"),
    "last one wins": ("X=a\nX=b", "b"),
    "sees an earlier one": ("Y=1\nX=$Y$Y", "11"),
    "crlf": ("Y=1\r\nX=a\r\n", "a"),
    "crlf double": ('Y=1\r\nX="a"\r\n', "a"),
    "crlf multi-line": ('X="a\r\nb"\r\n', "a\nb"),
}


@pytest.mark.parametrize(("text", "value"), LINES.values(), ids=LINES.keys())
def test_lines(text, value):
    found, warnings = read(text)
    assert (found["X"], warnings) == (value, [])


BAD_LINES = {
    "no equals": ("A=1\nsecret words\nB=2", 2),
    "no name": ("A=1\n\n# c\n=secret\nB=2", 4),
    "unclosed double": ('A=1\nX="secret\nB=2', 2),
    "unclosed single": ("A=1\nX='secret\nB=2", 2),
    "after the quote": ('A=1\nX="a" secret\nB=2', 2),
    "name alone": ("A=1\nsecret\nB=2", 2),
    "name with a dot": ("A=1\nX.Y=secret\nB=2", 2),
    "name with a dash": ("A=1\n\n\nX-Y=secret\nB=2", 4),
    "digit first": ("A=1\n9X=secret\nB=2", 2),
    "quoted name": ("A=1\n'X Y'=secret\nB=2", 2),
    "letter of no alphabet of ours": ("A=1\nÄ=secret\nB=2", 2),
}


@pytest.mark.parametrize(("text", "line"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_bad_lines_are_told_with_their_place_and_never_their_content(text, line):
    found, warnings = read(text)
    assert found == {"A": "1", "B": "2"}
    assert len(warnings) == 1
    assert warnings[0].startswith(f"F:{line}: ")
    assert "secret" not in warnings[0]


# A quote that does not close where it should: what is told of the line where it opens,
# and the names that are left.
OPEN_QUOTES = {
    "never closed": ('A=1\nX="secret\nB=2', "is not closed on this line; ignored", "AB"),
    "the next line closes it": ('A=1\nX="s\nY="secret"\nB=2', "this line and swallows Y;", "AB"),
    "single": ("A=1\nX='s\nY='secret'\nB=2", "this line and swallows Y;", "AB"),
    "two lines below": ('A=1\nX="s\nY=secret\nZ="z"\nB=2', "this line and swallows Y, Z;", "AB"),
    "many": (
        'A=1\nX="s\n' + "".join(f"export N{i} = secret\n" for i in range(9)) + 'Z="z"\nB=2',
        "this line and swallows N0, N1, N2, N3, N4 …; ignored",
        "AB",
    ),
    "lines of Base64 are no names": (
        'A=1\nX="k\nsecret==\nsecret2=\n-----END" x\nB=2', "closed on this line; ignored", "AB",
    ),
    "behind an assignment": ('A=1\nX="s\nY="\nB=2', "swallows Y; check where", "AXB"),
    "behind an assignment, single": ("A=1\nX='s\nexport Y='\nB=2", "Y; check where", "AXB"),
    "a comment hides the rest": ('A=1\nX="s\nY="#y"\nB=2', "Y; check where", "AXB"),
    "a backtick, cut at the #": (
        "A=1\nX=`s # secret`\nB=2", "a backtick does not quote a value; use", "AXB",
    ),
    "a backtick, cut at the line": ("A=1\nX=`s\nY=secret`\nB=2", "does not quote a value;", "AXYB"),
    "a backtick that never closes": ("A=1\nexport X = `s\nB=2", "does not quote a value;", "AXB"),
    "a backtick, CR LF": ("A=1\r\nX=`s\r\nB=2\r\n", "does not quote a value;", "AXB"),
    "text behind it": ('A=1\nX="s" secret\nB=2', "this line is not NAME=value; ign", "AB"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told", "names"), OPEN_QUOTES.values(), ids=OPEN_QUOTES
)
def test_an_open_quote_is_told_where_it_opens_with_the_names_it_swallows(
    text, told, names
):
    found, warnings = read(text)
    assert "".join(found) == names
    assert len(warnings) == 1
    assert warnings[0].startswith("F:2: ")
    assert told in warnings[0]
    assert "secret" not in warnings[0]


GROWING = {
    "blank lines": lambda n: "\n" * n + " \n" * n,
    "open quotes": lambda n: "X='a\n" * n,
    "an open quote": lambda n: 'X="' + "a\n" * n,
    "open quotes of both kinds": lambda n: "X=\"'\nY='\"\n" * (n // 4),
    "escaped quotes": lambda n: 'X="' + '\\"' * n,
    "bad lines": lambda n: "a b\n" * (n // 4),
    "names without =": lambda n: "a" * n,
    "names in quotes": lambda n: "'a" * n,
    "comments": lambda n: "#" * n + "\nX=' #'" + " #" * n,
}


@pytest.mark.night
@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING)
def test_reading_takes_time_in_proportion_to_the_file(make):
    def text(size):
        return "Y='\\x'\n" + make(size)

    assert grows_in_proportion(text, read, 20_000)


# Texts of assignments in every form, some of them broken.
NAME = st.sampled_from(
    ["A", "B_9", "_", "a", "export", "x.y", "9", "'Q'", "", " A ", "é"]
)
CONTENT = st.text(alphabet="ab =#'\"\\nt\té, ", max_size=8)
VALUE = st.one_of(
    CONTENT,
    CONTENT.map(lambda text: f'"{text}"'),
    CONTENT.map(lambda text: f"'{text}'"),
    st.tuples(CONTENT, CONTENT).map(lambda pair: f'"{pair[0]}\n{pair[1]}"'),
)
LINE = st.one_of(
    st.builds(lambda lead, name, value: f"{lead}{name}={value}",
              st.sampled_from(["", "export ", "  ", "\t"]), NAME, VALUE),
    CONTENT,
    st.just("# comment"),
    st.just(""),
)  # fmt: skip


def is_clear(text: str) -> bool:
    r"""Without `\\` and `$`, which our expansion takes as well, both read the same."""
    return "$" not in text and "\\\\" not in text


@pytest.mark.slow
@given(st.lists(LINE, max_size=6).map("\n".join).filter(is_clear))
def test_dotenv_agrees(text):
    bindings = list(parse_stream(io.StringIO(text)))
    expected = {
        one.key: one.value
        for one in bindings
        if not one.error
        and one.key is not None
        and is_name(one.key)
        and one.value is not None
    }
    bad = [
        one for one in bindings if one.error or (one.key and one.key not in expected)
    ]
    found, warnings = read(text)
    assert found == expected
    assert len(warnings) >= len(bad)


@given(st.text(alphabet="AB=\"'\\$#{}:- \n\t\r\x85\u2028\0é", max_size=60))
def test_any_text_is_read_to_its_end(text):
    found, _ = read(text)
    assert all(is_name(name) for name in found)


def test_a_backslash_pair_before_the_closing_quote():
    found, warnings = read('X="C:\\\\"\nY="y"')
    assert (found, warnings) == ({"X": "C:\\", "Y": "y"}, [])


# Through the program: what is no readable text file.
SHOW = '#!/bin/sh\nprintf "%s|%s\\n" "$X" "$Y"\n'


@pytest.fixture(scope="module")
def place(shared_install):
    """Run a command whose env_files are given; `X` and `Y` are shown."""
    made = shared_install()

    def run(*env_files, env=None, cwd=None, **fields):
        made.write(
            {
                "commands/demo/show/command.json": command(
                    env_files=list(env_files), **fields
                ),
                "commands/demo/show/main.sh": SHOW,
            }
        )
        return made.run("demo", "show", env=env, cwd=cwd)

    run.made = made
    run.folder = made.root / "commands" / "demo" / "show"
    run.folder.mkdir(parents=True)
    return run


@pytest.mark.slow
def test_bom_crlf_and_a_bad_line_through_the_program(place):
    (place.folder / "bom.env").write_bytes(
        b"\xef\xbb\xbfX=1\r\nhidden words\r\nY=2\r\n"
    )
    result = place("bom.env")
    assert (result.status, result.stdout) == (0, "1|2\n")
    assert result.stderr.startswith(f"cli: warning: {place.folder}/bom.env:2: ")
    assert result.stderr.count("\n") == 1
    assert "hidden" not in result.stderr


def test_missing_and_dangling_are_silent(place):
    (place.folder / "dangling.env").symlink_to("nowhere")
    (place.folder / "file").write_text("")
    names = [
        "none.env",
        "dangling.env",
        "no/such/dir.env",
        "/no/such.env",
        "file/below.env",
    ]
    assert place(*names).all == (0, "|\n", "")


def test_later_files_win_and_paths_hold_references(place, tmp_path):
    (place.folder / "one.env").write_text("X=one\nY=one\n")
    (place.folder / "two.env").write_text("X=two\n")
    (tmp_path / ".env.prod").write_text("X=three\n")
    assert place("one.env", "two.env").stdout == "two|one\n"
    assert place("two.env", "one.env").stdout == "one|one\n"
    assert place("./../show/two.env").stdout == "two|\n"
    name = f"{tmp_path}/.env.${{STAGE:-prod}}"
    assert place("one.env", name).stdout == "three|one\n"
    assert place("one.env", name, env={"STAGE": "none"}).stdout == "one|one\n"
    assert place("$Y.env", "one.env", "$Y.env").stdout == "one|one\n"
    assert place("$PWD/$A/.env.prod", env={"A": "."}, cwd=tmp_path).stdout == "three|\n"
    # A path sees what the files before it set, and what wins over them.
    (place.folder / "next.env").write_text("NEXT=two\n")
    assert place("next.env", "$NEXT.env").stdout == "two|\n"
    assert place("next.env", "$NEXT.env", envs={"NEXT": "one"}).stdout == "two|\n"
    assert place("next.env", "$NEXT.env", env={"NEXT": "one"}).stdout == "one|one\n"


def test_an_entry_that_expands_to_nothing_is_no_file(place):
    (place.folder / "one.env").write_text("X=one\n")
    assert place("${EXTRA_ENV:-}", "one.env", "$EXTRA_ENV", "").all == (0, "one|\n", "")
    assert place("$EXTRA_ENV", env={"EXTRA_ENV": "one.env"}).stdout == "one|\n"


def test_an_error_names_the_entry_as_it_is_written(place):
    result = place("../$EXTRA_ENV", env={"EXTRA_ENV": "show"})
    told = f'cli: {place.folder}/../show: not a regular file (env_files: "../$EXTRA_ENV")\n'
    assert result.all == (1, "", told)
    result = place("..")
    assert result.all == (1, "", f"cli: {place.folder}/..: not a regular file\n")


@pytest.mark.slow
@pytest.mark.parametrize("line", ["no words", "X.Y=secret", "X${i}=${A%x}"])
def test_five_lines_of_a_file_are_warned_of_and_the_rest_counted(place, line):
    path = place.folder / "bad.env"
    lines = [line.replace("${i}", str(i)) for i in range(2_000)]
    path.write_text("X=x\n" + "\n".join(lines[:5]) + "\nY=y\n")
    result = place("bad.env")
    assert (result.status, result.stdout, result.stderr.count("\n")) == (0, "x|y\n", 5)
    path.write_text("X=x\n" + "\n".join(lines[:6]) + "\nY=y\n")
    rest = f"cli: warning: {path}: further problems in this file: 1"
    assert place("bad.env").stderr.splitlines()[5:] == [rest]
    path.write_text("X=x\n" + "\n".join(lines) + "\nY=y\n")
    result = place(
        "bad.env", "bad.env", required_envs=["NONE"]
    )  # nothing runs with so many
    told = result.stderr.splitlines()
    assert (result.status, len(told)) == (1, 7)
    rest = f"cli: warning: {path}: further problems in this file: 1,995"
    assert told[5] == rest


def test_pwd_of_the_system_in_a_path(place, tmp_path):
    (tmp_path / "here.env").write_text("X=here\n")
    place("$PWD/here.env")
    result = place.made.run("demo", "show", cwd=tmp_path)
    assert result.all == (0, "here|\n", "")


def test_values_see_home_user_pwd_and_hostname(place):
    import pwd

    account = pwd.getpwuid(os.getuid())
    (place.folder / "system.env").write_text("X=$HOME:$USER\nY=$PWD:$HOSTNAME\n")
    made = place.made
    place("system.env")
    env = {"HOME": "/h", "USER": "u", "PWD": "/p", "HOSTNAME": "n"}
    assert made.run("demo", "show", env=env, cwd="/usr").stdout == "/h:u|/usr:n\n"
    script = f"env -i {made.launcher} demo show"
    result = made.run("-c", script, executable="/bin/sh", cwd="/")
    host = os.uname().nodename
    assert result.all == (0, f"{account.pw_dir}:{account.pw_name}|/:{host}\n", "")


def make_fifo(path):
    os.mkfifo(path)


def make_device(path):
    try:
        os.mknod(path, 0o020666, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        pytest.skip("mknod needs root")


NO_FILES = {
    "directory": (os.mkdir, "not a regular file"),
    "fifo": (make_fifo, "not a regular file"),
    "device": (make_device, "not a regular file"),
    "link to a device": (
        lambda path: os.symlink("/dev/zero", path),
        "not a regular file",
    ),
    "link to a terminal": (
        lambda path: os.symlink("/dev/ptmx", path),
        "not a regular file",
    ),
    "link to itself": (lambda path: os.symlink(path, path), ""),
    "not UTF-8": (lambda path: path.write_bytes(b"X=1\nY=\xff\n"), ":2: not UTF-8"),
    "UTF-16": (
        lambda path: path.write_bytes("X=1\n".encode("utf-16")),
        ": is UTF-16; save it",
    ),
    "UTF-16 without BOM": (
        lambda path: path.write_bytes("X=1\n".encode("utf-16-le")),
        "UTF-16",
    ),
    "NUL": (lambda path: path.write_bytes(b"X=1\nY=a\0b\n"), ":2: contains a NUL"),
    "too large": (
        lambda path: path.write_bytes(b"#" * (SIZE_LIMIT + 1)),
        "larger than 1048576",
    ),
    "sparse": (
        lambda path: (path.touch(), os.truncate(path, 1 << 40)),
        "larger than 1048576",
    ),
}


@pytest.mark.parametrize(("make", "words"), NO_FILES.values(), ids=NO_FILES.keys())
def test_what_is_no_text_file_is_an_error(place, tmp_path, make, words):
    path = tmp_path / "bad.env"
    make(path)
    result = place(str(path))
    assert (result.status, result.stdout) == (1, "")
    assert result.stderr.startswith(f"cli: {path}")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_name_too_long_for_the_system_is_an_error(place):
    result = place("x" * 5000)
    assert (result.status, result.stdout, result.stderr.count("\n")) == (1, "", 1)


def test_the_largest_file_is_read(place, tmp_path):
    path = tmp_path / "large.env"
    path.write_bytes(b"X=1\n".ljust(SIZE_LIMIT, b"\n"))
    assert place(str(path)).all == (0, "1|\n", "")


def test_a_file_that_cannot_be_read_is_an_error(place, tmp_path):
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("setpriv as root is needed")
    path = tmp_path / "secret.env"
    path.write_text("X=1\n")
    path.chmod(0)
    place(str(path))
    drop = ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    result = place.made.run(
        *drop, place.made.launcher, "demo", "show", executable=setpriv
    )
    assert result.all == (1, "", f"cli: {path}: Permission denied\n")


def test_an_unknown_form_is_told_once_with_file_and_key(place):
    (place.folder / "odd.env").write_text("X=${A%x}${B%x}\nY='${A%x}'\n")
    result = place("odd.env", "odd.env")
    assert (result.status, result.stdout) == (0, "${A%x}${B%x}|${A%x}\n")
    assert result.stderr.startswith(f'cli: warning: {place.folder}/odd.env:1: "X": ')
    assert result.stderr.count("\n") == 1
    result = place("${A%x}.env", envs={"X": "${A^}", "Y": "ok"})
    assert (result.status, result.stdout) == (0, "${A^}|ok\n")
    json_file = place.folder / "command.json"
    lines = result.stderr.splitlines()
    assert lines[0].startswith(f'cli: warning: {json_file}: "env_files": ')
    assert lines[1].startswith(f'cli: warning: {json_file}: "envs.X": ')
    assert len(lines) == 2


REFUSED = [
    *(
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_",
        "BASH_ENV",
        "ENV",
        "PYTHONPATH",
        "PYTHONSTARTUP",
    ),
    *("PERL5LIB", "RUBYOPT", "NODE_OPTIONS", "GIT_SSH_COMMAND"),
    *("PERL5OPT", "SHELLOPTS", "DYLD_INSERT_LIBRARIES"),
]


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_sudo(place, tmp_path, name):
    path = tmp_path / "sudo.env"
    path.write_text(f"X=1\n{name}=secret\n")
    result = place(str(path), sudo=True)
    assert (result.status, result.stdout) == (1, "")
    assert result.stderr.startswith(f"cli: {path}:2: a .env file must not set {name} ")
    assert result.stderr.count("\n") == 1
    assert "secret" not in result.stderr


def test_taken_without_sudo_and_from_other_sources(place, tmp_path):
    path = tmp_path / "sudo.env"
    path.write_text("".join(f"{name}=\n" for name in REFUSED) + "X=1\nPATHX=1\nLDX=1\n")
    other = "mac" if sys.platform != "darwin" else "linux"
    assert place(str(path)).all == (0, "1|\n", "")
    assert place(str(path), sudo=[other]).all == (0, "1|\n", "")
    assert place(str(path), sudo=["linux", "mac"]).status == 1
    path.write_text("X=1\nPATHX=1\nLDX=1\n")
    assert place(str(path), sudo=True, envs={"PYTHONPATH": "p"}).all == (0, "1|\n", "")


def test_reading_a_file_directly(tmp_path):
    path = tmp_path / "x.env"
    assert read_env_text(str(path)) is None
    path.write_text("X=1\n")
    assert read_env_text(str(path)) == "X=1\n"
    path.write_bytes(b"\n\n\xff")
    with pytest.raises(SourceError, match=":3: not UTF-8"):
        read_env_text(str(path))


def test_json_numbers_and_booleans_in_envs(place):
    text = json.dumps(command(env_files=[])).removesuffix("}")
    place()
    (place.folder / "command.json").write_text(
        text + ', "envs": {"X": 1.50, "Y": true}}'
    )
    assert place.made.run("demo", "show").all == (0, "1.50|true\n", "")
    (place.folder / "command.json").write_text(
        text + ', "envs": {"X": 42, "Y": false}}'
    )
    assert place.made.run("demo", "show").all == (0, "42|false\n", "")
