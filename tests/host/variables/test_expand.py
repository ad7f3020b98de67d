r"""`$NAME` and `${NAME:-default}`: a table, bash as oracle, and linear time."""

import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.variables.expand import expand
from host.words import is_name
from testing.growth import grows_in_proportion

VALUES = {
    "A": "one",
    "B": "two words",
    "EMPTY": "",
    "D": "$A ${A} `x` \\$A",
    "_x9": "low",
    "S": "*",
}

# text → what it becomes with VALUES
TABLE = {
    "": "",
    "plain": "plain",
    "$A": "one",
    "${A}": "one",
    "${A}$A": "oneone",
    "$A-$B": "one-two words",
    "pre${A}post": "preonepost",
    "$Apost": "",
    "$A.x": "one.x",
    "$_x9": "low",
    "$UNSET": "",
    "${UNSET}": "",
    "[$EMPTY]": "[]",
    # defaults
    "${A:-d}": "one",
    "${EMPTY:-d}": "d",
    "${UNSET:-d}": "d",
    "${A-d}": "one",
    "${EMPTY-d}": "",
    "${UNSET-d}": "d",
    "${A:=d}": "one",
    "${EMPTY:=d}": "d",
    "${UNSET:=d}$UNSET": "d",
    "${UNSET=d}$UNSET": "d",
    "${EMPTY=d}": "",
    "${A:+o}": "o",
    "${EMPTY:+o}": "",
    "${UNSET:+o}": "",
    "${A+o}": "o",
    "${EMPTY+o}": "o",
    "${UNSET+o}": "",
    "${A:?message}": "one",
    "${A?message}": "one",
    "${EMPTY?message}": "",
    "[${A:?}]": "[one]",
    "${A:?of ${B} \\}}": "one",
    "${UNSET:-${A:?m}}": "one",
    "${A:-${UNSET:?m}}": "one",
    "${A:?${UNSET:?m}}": "one",
    "${UNSET:+${NONE:?m}}": "",
    "${A:+x${B:?m}}": "xtwo words",
    "${UNSET:-}": "",
    "${UNSET:--}": "-",
    "${UNSET:-:-}": ":-",
    "${UNSET-a b}": "a b",
    "${UNSET:-$A}": "one",
    "${UNSET:-${A}}": "one",
    "${UNSET:-${EMPTY:-${NONE:-deep}}}": "deep",
    "${UNSET:-a${A}b${B}c}": "aonebtwo wordsc",
    "${A:+${B:+both}}": "both",
    "${A:-${B}}": "one",
    "${UNSET:-{}}": "{}",
    "${UNSET:-{x}y": "{xy",
    "${UNSET:-\\}}": "}",
    "${UNSET:-\\$A}": "$A",
    "${A:-unused $(x) `y` \\}}": "one",
    # backslashes
    "\\$A": "$A",
    "\\${A}": "${A}",
    "\\\\$A": "\\one",
    "\\\\\\$A": "\\$A",
    "a\\b": "a\\b",
    "a\\": "a\\",
    "\\\\": "\\",
    "\\n\\t\\}": "\\n\\t\\}",
    # inserted values are not looked at again
    "$D": "$A ${A} `x` \\$A",
    "${UNSET:-$D}": "$A ${A} `x` \\$A",
    # what a shell would do and we do not
    "$(echo $A)": "$(echo $A)",
    "$(echo \\$A)": "$(echo \\$A)",
    "`echo $A`": "`echo $A`",
    "$((1+A))": "$((1+A))",
    "x$(a (b) c)$A": "x$(a (b) c)one",
    "$( $A": "$( $A",
    "`$A": "`one",
    "\\`$A\\`": "\\`one\\`",
    "* ? [a-z] $S": "* ? [a-z] *",
    "~ ~/x ~root": "~ ~/x ~root",
    "a;b|c&d>e<f": "a;b|c&d>e<f",
    "$$ $1 $@ $* $# $? $! $- $0 ${}": None,
    # two dollars keep what follows: passwords hold them, and a shell would put its pid there
    "$$A": "$$A",
    "$$HOME": "$$HOME",
    "pa$$word": "pa$$word",
    "pa$$word$A": "pa$$wordone",
    "$${A}": "$${A}",
    "$${A}${A}": "$${A}one",
    "$${A:-${B:-x}}": "$${A:-${B:-x}}",
    "$${A%x}": "$${A%x}",
    "$$$A": "$$$A",
    "$$$$A$$": "$$$$A$$",
    "$$ $A": "$$ one",
    "$$.$A": "$$.one",
    "$$": "$$",
    "$$1$A": "$$1one",
    "$$(echo $A)$A": "$$(echo $A)one",
    "$${A": "$${A",
    "x$${A $A": "x$${A $A",
    "\\$$A": "$one",
    "\\\\$$A": "\\$$A",
    "\\$\\$A": "$$A",
    "${UNSET:-$$A}": "$$A",
    "${UNSET:-a$$}": "a$$",
    "${UNSET:-$${A}}": "$${A}",
    "${A:+$${A}$B}": "$${A}two words",
    "${A:-$${A}}": "one",
    "$": "$",
    "100% $ 5$": "100% $ 5$",
    "%A% {} { } }": "%A% {} { } }",
    "$1 $$ $? $! $# $@ $* $- $0": "$1 $$ $? $! $# $@ $* $- $0",
    "$-$A": "$-one",
    "'$A' \"$A\"": "'one' \"one\"",
    "é$A\u2028\n$B": "éone\u2028\ntwo words",
    "$é": "$é",
    "${UNSET:-\udcff}": "\udcff",
}
TABLE = {text: value for text, value in TABLE.items() if value is not None}

# `${…}` of any other form stays as written, and so does `:?` with an unset name; one warning
FOREIGN = {
    "${UNSET:?message}": None,
    "${UNSET?message}": None,
    "${EMPTY:?message}": None,
    "${UNSET:?}": None,
    "$A ${UNSET:?of $A \\} `x` ${B}} $A": "one ${UNSET:?of $A \\} `x` ${B}} one",
    "${UNSET:?x}${NONE:?y}": None,
    "${UNSET:-${NONE:?x}}": "${NONE:?x}",
    "${A:?x} ${UNSET:?${A}}": "one ${UNSET:?${A}}",
    "${UNSET:?${NONE:?x}}": None,
    "${#A}": None,
    "${A#o}": None,
    "${A%e}": None,
    "${A/o/$A}": None,
    "${A^^}": None,
    "${A:0:1}": None,
    "${!A}": None,
    "${A[0]}": None,
    "${A@Q}": None,
    "${}": None,
    "${1}": None,
    "${@}": None,
    "${ A}": None,
    "${A }": None,
    "${A:}": None,
    "${é}": None,
    "${A.b}": None,
    "${A/${B}/${A:-x}}": None,
    "${#A} $A ${B%s}": "${#A} one ${B%s}",
    "${A": None,
    "${": None,
    "${UNSET:-x": None,
    "$A ${UNSET:-$A": "one ${UNSET:-$A",
    "${UNSET:-${#A}}": "${#A}",
    "${UNSET:-a ${A%x} b}": "a ${A%x} b",
    "${A:+${#A}}": "${#A}",
    "${#A:-$A}$A": "${#A:-$A}one",
}


def expanded(text: str) -> tuple[str, int]:
    warnings: list[None] = []
    return expand(text, VALUES.get, lambda: warnings.append(None)), len(warnings)


@pytest.mark.parametrize(("text", "value"), TABLE.items(), ids=map(repr, TABLE))
def test_table(text, value):
    assert expanded(text) == (value, 0)


@pytest.mark.parametrize(("text", "value"), FOREIGN.items(), ids=map(repr, FOREIGN))
def test_other_forms_stay_and_are_told_once(text, value):
    assert expanded(text) == (value or text, 1)
    assert expand(text, VALUES.get) == (value or text)


def test_nothing_is_assigned_or_remembered():
    values = {"A": "x"}
    assert expand("${NEW:=y}${NEW:-z}", values.get) == "yz"
    assert values == {"A": "x"}


def test_names():
    good = ["A", "_", "a9", "_9", "A" * 1000]
    bad = ["", "9", "A.B", "A-B", "A ", "é", "Aé", "A\n", "A=B", "²"]
    assert [one for one in [*good, *bad] if is_name(one)] == good


# What bash makes of the same text in a here-document: quotes are plain characters
# there. `=` becomes `-` for bash, as an assignment would change what follows.
NAMES = st.sampled_from(["A", "B", "EMPTY", "UNSET", "_x9", "S", "NONE"])
PLAIN = st.text(alphabet="ab09{} .,:-+=%*?~;|&<>[]()#@!/^_", max_size=6)
OPERATORS = st.sampled_from([":-", "-", ":+", "+", ":=", "="])
ESCAPE = st.sampled_from(["\\$", "\\\\"])


def reference(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        NAMES.map(lambda name: "${" + name + "}"),
        st.builds(
            lambda name, op, word: f"${{{name}{op}{word}}}", NAMES, OPERATORS, inner
        ),
    )


def sequence(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.one_of(PLAIN, ESCAPE, part), max_size=4).map("".join)


TEXT = st.recursive(
    sequence(NAMES.map(lambda name: "${" + name + "}")),
    lambda inner: sequence(
        st.one_of(NAMES.map(lambda name: f"${name}."), reference(inner))
    ),
    max_leaves=12,
)


def bash(texts: list[str]) -> list[str]:
    """Return what bash makes of each text, in one run."""
    script = ["EMPTY= A=one B='two words' _x9=low S='*'", "unset UNSET NONE"]
    for text in texts:
        for_bash = re.sub(r"(\$\{\w+:?)=", r"\1-", text)
        script += ["IFS= read -r -d '' text <<__END__", for_bash, "__END__"]
        script += ["printf '%s\\0' \"$text\""]
    done = subprocess.run(
        ["bash", "-s"],
        input="\n".join(script).encode() + b"\n",
        capture_output=True,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        check=True,
    )
    assert done.stderr == b""
    return [one.decode().removesuffix("\n") for one in done.stdout.split(b"\0")[:-1]]


@pytest.mark.slow
@given(st.lists(TEXT, min_size=1, max_size=12))
def test_bash_agrees(texts):
    executed = ("((", "$(", "<(", ">(")
    texts = [one for one in texts if not any(mark in one for mark in executed)]
    assert [expanded(one)[0] for one in texts] == bash(texts)


def test_bash_agrees_on_the_table():
    shell_only = ("$(", "`", "$1", "$$", "$-", '"', "\udcff", "$D", "${D", "\\`")
    texts = [
        one
        for one in TABLE
        if one and one != "a\\" and not any(m in one for m in shell_only)
    ]
    texts = [
        one
        for one in texts
        if "$UNSET" not in one or (":=" not in one and "=d" not in one)
    ]
    assert len(texts) > 40
    assert [TABLE[one] for one in texts] == bash(texts)


@given(st.text(alphabet="$${}()`\\AB:-+=# x'\"\n", max_size=40))
def test_any_text_gives_a_text_and_the_same_again(text):
    assert expanded(text) == expanded(text)
    if "$" not in text:
        assert expanded(text)[0] == text.replace("\\\\", "\\") or "`" in text


HOSTILE = {
    "open braces": "${A:-",
    "as written": "${A#",
    "closed": "${UNSET:-}",
    "dollars": "$",
    "dollars before a name": "$$A",
    "dollars before braces": "$${A:-",
    "dollars before closed braces": "$${A}",
    "dollars before parentheses": "$$(",
    "parentheses": "$(",
    "closed parentheses": "$()",
    "backticks": "`",
    "backslashes": "\\",
    "references": "$A",
    "braces": "}",
    "mixed": "${U:-$(`${A#\\",
    "braces open and close": "${U:-{}",
    "required": "${U:?",
    "closed required": "${U:?}",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_linear_time(text):
    assert grows_in_proportion(
        lambda times: text * times, lambda whole: expand(whole, VALUES.get), 2_000
    )


def test_deep_nesting():
    def nested(depth):
        return "${U:-" * depth + "x" + "}" * depth

    warnings = []
    assert expand(nested(100), VALUES.get, lambda: warnings.append(1)) == "x"
    assert warnings == []
    assert expand(nested(50_000), VALUES.get, lambda: warnings.append(1)) == nested(
        50_000
    )
    assert warnings == [1]
