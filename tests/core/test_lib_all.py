"""What holds for every library: it can be sourced alone, twice, under strict options."""

import re

import pytest

from testing.shells import LIB, LIBRARIES, shell_path


def public_functions(library):
    text = (LIB / f"{library}.sh").read_text()
    return re.findall(r"^([a-z][a-z0-9_]*)\(\) ", text, re.MULTILINE)


@pytest.mark.parametrize(
    "before", ["set -euf", "IFS=/_lib", "set -u; unset PATH HOME USER TERM PWD"]
)
def test_each_library_can_be_sourced_alone_and_twice(run, shell, before):
    # A subshell for each: what one defines is not there for the next.
    script = f"{before}\nkept=$-\n" + "".join(
        f'( . "$LIB_DIR/{library}.sh"; . "$LIB_DIR/{library}.sh"\n'
        f'  [ "$kept" = "$-" ] && printf "%s\\n" {library} )\n'
        for library in LIBRARIES
    )
    assert run(shell, script) == (
        0,
        "".join(f"{library}\n" for library in LIBRARIES),
        "",
    )


def test_bash_finds_what_each_library_needs_without_lib_dir(run):
    script = "set -eu\n" + "".join(
        f"( . {LIB}/{library}.sh )\n" for library in LIBRARIES
    )
    assert run(shell_path("bash"), script, env={"LIB_DIR": None}) == (0, "", "")


def test_every_function_and_variable_is_documented_at_its_head():
    for library in LIBRARIES:
        text = (LIB / f"{library}.sh").read_text()
        comments = re.match(r"(?:#.*\n|\n)+", text)[0]
        assert text.startswith("# shellcheck shell=bash"), library
        for name in public_functions(library):
            assert re.search(rf"\b{name}\b", comments), name


def test_nothing_else_is_left_in_the_shell(run):
    """Private names start with __cli_."""
    sourced = "".join(f'. "$LIB_DIR/{library}.sh"\n' for library in LIBRARIES)
    script = (
        f"before=$(compgen -vA function)\n{sourced}"
        'comm -13 <(echo "$before" | sort) <(compgen -vA function | sort)'
    )
    documented = {name for each in LIBRARIES for name in public_functions(each)}
    colours = set(re.findall(r"\{([A-Z_]+)=", (LIB / "color.sh").read_text()))
    left = set(run(shell_path("bash"), script).out.split())
    public = {name for name in left if not name.startswith(("__cli_", "BASH_"))}
    assert public - documented - colours <= {"before", "OS_TYPE", "PIPESTATUS", "_"}


def test_there_are_no_constructs_that_bash_3_2_lacks():
    text = "".join(path.read_text() for path in LIB.glob("*.sh"))
    code = re.sub(r"(?m)^\s*#.*", "", text)
    for construct in [
        r"\$\{\w+(\^|,)",
        r"\b(declare|local|typeset) -[An]",
        r"\bmapfile\b",
        r"\breadarray\b",
        r"&>>",
        r"\|&",
        r"\$\{\w+@",
    ]:
        assert not re.search(construct, code), construct
