"""Decide which variables are secret, and mask secrets in values and texts."""

from host.secret_names import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterable, Mapping

    from host.arguments.spec import Argument
    from host.catalog.definition import Definition
    from host.variables.layers import Variable

# A query parameter is secret if its name contains one of these.
_TELLING_PARTS = (
    "token",
    "key",
    "secret",
    "passw",
    "phrase",
    "pwd",
    "sig",
    "auth",
    "credential",
)
# In a connection string of a database, a value may be quoted.
_PARAMETER = (
    r"""(?P<name>[?&;#][^\s=?&;#'"]*)"""
    r"""=(?P<value>"[^"]{0,200}"|'[^']{0,200}'|\{[^}]{0,200}\}|[^\s&;#'"]*)"""
)

_ESCAPED_IN_JSON = frozenset("\"\\/&<>'")
_PARAMETER_MARKS = frozenset("?&;#")  # one of them stands before each parameter

# The login in an address: the text between `//` and `@`.
_LOGIN = r"(?<=[:/]/)(?!/)[^/?#\s]*(?=@)"
# A message may repeat an address without `//`. Elsewhere, `nginx:1.25@sha256:…` has no password.
_BARE_LOGIN = r"(?<!\S)[^\s/?#:]*:[^\s/?#]+(?=@)"
# If the text after a colon is not a port, it is probably a password with a slash or a blank.
_BROKEN_LOGIN = (
    r"(?<=[:/]/)[^\s/?#:@\[]*:(?!\d*[/?#]).*?(?:@[^\s/?#]*)?(?=@)"
    # The path of a database has no @: here, even `5432/` is the beginning of a password.
    r"|(?:(?<=\bpostgres://)|(?<=\bpostgresql://))[^\s/?#:@]*:[^\s?#@]*(?=@)"
)

_MASK = "********"
_SHORTEST_BASE64 = 6  # characters
_BASE64_WIDTHS = (64, 76)  # characters in a line that openssl and `base64` write
_SHORT = 3  # minimum length of a secret that is masked inside other values
_SWITCHES = frozenset(
    ["0", "1", "false", "no", "none", "null", "off", "on", "true", "yes"]
)


def declared_secrets(definition: "Definition", names: "Iterable[str]") -> set[str]:
    """Return the variables among `names` that the definition of a command declares as secret.

    These are the variables in `secrets`, those in `required_envs` with `"secret": true`, and those
    of arguments with `"secret": true`::

        variables = program.environment(command.words)
        secrets = declared_secrets(command.definition, variables)
        shown = masked(variables, secrets=secrets)
    """
    secret = set(definition.secrets)
    for variable in definition.required_envs:
        if variable.secret:
            secret.add(str(variable))

    arguments = []
    for argument in definition.shown_args:
        if argument.secret:
            arguments.append(argument)
            secret.add(argument.env)

    declared = set()
    for name in names:
        if name in secret or _is_of_one(arguments, name):
            declared.add(name)
    return declared


def _is_of_one(arguments: "Iterable[Argument]", variable: str) -> bool:
    """Return whether a variable belongs to one of `arguments`."""
    for argument in arguments:
        if argument.owns(variable):
            return True
    return False


def masked(
    variables: "Mapping[str, Variable]",
    caller: "Mapping[str, str] | None" = None,
    secrets: "Collection[str]" = (),
) -> "dict[str, Variable]":
    """Return the variables with secrets masked, as `self env` shows them.

    A value becomes `********` if `is_secret` is true for its name, if `secrets` (see
    `declared_secrets`) contains its name, or if a reference to a secret gave it. Secret values
    are also masked inside other values and in shadowed values. Credentials in addresses become `…`.
    Secrets in the environment `caller` (by default, that of this process) are masked, too::

        variables = Program.current().environment(("deploy", "status"))
        for name, variable in masked(variables).items():
            print(f"{name}={printable(variable.value)}  from {printable(variable.source)}")
    """
    import os
    import re

    if caller is None:
        caller = os.environ

    values = _masked_values(variables.values(), secrets)
    for name, value in caller.items():
        if is_secret(name):
            values.add(value)

    # Of two secrets, one may begin with the other: the longest must match first.
    hidden_values = filter(is_hidden_everywhere, values)
    hidden = sorted(hidden_values, key=len, reverse=True)
    matches_nothing = "(?!)"
    alternatives = "|".join(map(re.escape, hidden))
    pattern = re.compile(alternatives or matches_nothing)

    def without_secrets(variable: "Variable") -> "Variable":
        shadows = tuple(map(without_secrets, variable.shadows))
        # An empty value is shown as empty: the mask would suggest that there is a secret.
        if variable.value and _is_masked(variable, secrets):
            value = _MASK
        else:
            value = _without_credentials(pattern.sub(_MASK, variable.value))
        return variable.replaced(value=value, shadows=shadows)

    return {name: without_secrets(variable) for name, variable in variables.items()}


def _masked_values(
    variables: "Iterable[Variable]", secrets: "Collection[str]"
) -> set[str]:
    """Return the secret values among the variables and what they shadow."""
    values = set()
    for strongest in variables:
        for variable in (strongest, *strongest.shadows):
            if _is_masked(variable, secrets):
                values.add(variable.value)
    return values


def _is_masked(variable: "Variable", secrets: "Collection[str]") -> bool:
    if variable.secret or variable.name in secrets:
        return True
    return is_secret(variable.name)


def masked_line(text: str, secrets: "Iterable[str]") -> str:
    """Return `text` with `********` for each of `secrets`, and `…` for credentials in URLs."""
    [line] = masked_lines([text], secrets)
    return line


def masked_lines(texts: "Iterable[str]", secrets: "Iterable[str]") -> list[str]:
    """Return each of `texts` as `masked_line` does."""
    # Once for all texts: a run may have thousands of arguments.
    all_hidden = hidden_texts(secrets)
    lines = []
    for text in texts:
        line = text
        for hidden in all_hidden:
            line = line.replace(hidden, _MASK)
        lines.append(_without_credentials(line))
    return lines


def hidden_texts(secrets: "Iterable[str]") -> "list[str]":
    """Return the texts that must not appear in place of `secrets`, the longest first.

    These are the secrets themselves, as JSON, base64 or an address contains them, and each of their
    lines, because a terminal prints a private key with other line ends, and a program may print one
    line of it. A text of one or two characters is not hidden, because too many texts contain it.
    The same applies to switches such as `true` and `off`, and to lines without a letter or digit::

        for hidden in hidden_texts(secrets):
            output = output.replace(hidden, _MASK)
    """
    texts: set[str] = set()
    for secret in secrets:
        for text in (secret, secret.strip()):
            # The JSON form of a short text is longer, but just as frequent: `\"\"`.
            if is_hidden_everywhere(text):
                texts.add(text)
                texts.update(_json_forms(text))
                texts.update(_base64_forms(text))
                texts.update(_address_forms(text))

        for line in secret.splitlines():
            # A line such as `  },` is in most texts in JSON.
            if any(map(str.isalnum, line)):
                texts.add(line)

    hidden = filter(is_hidden_everywhere, texts)
    return sorted(hidden, key=len, reverse=True)


def is_hidden_everywhere(value: str) -> bool:
    """Return whether the value of a secret is masked in every text that contains it.

    A value of one or two characters is not masked everywhere, because too many texts contain it.
    The same applies to switches such as `true` and `off`. `hidden_texts` uses this rule, and also
    finds the other forms of a secret.
    """
    return len(value) >= _SHORT and value.lower() not in _SWITCHES


def _json_forms(text: str) -> "list[str]":
    """Return `text` as programs write it into a JSON string, without the quotes, if it differs."""
    is_plain = text.isascii() and text.isprintable()
    needs_escapes = not _ESCAPED_IN_JSON.isdisjoint(text)
    if is_plain and not needs_escapes:
        return []

    # These are the encoders of `json.dumps`; importing `json` takes as long as half a run.
    from _json import encode_basestring, encode_basestring_ascii

    forms = []
    for encode in (encode_basestring_ascii, encode_basestring):
        form = encode(text)[1:-1]
        html = (
            form.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
        )
        # As PHP, Go and other languages write it.
        forms += [form, form.replace("/", r"\/"), html, html.replace("'", r"\u0027")]
    return forms


def _base64_forms(text: str) -> "list[str]":
    """Return what base64 makes of `text`, wherever it begins in what is encoded.

    Three bytes become four characters, so there are three forms. A character that also depends on
    the bytes around `text` is no part of a form. Short forms would be in too many texts. Only if
    `text` begins what is encoded, the places of line breaks are known.
    """
    from binascii import b2a_base64

    content = text.encode("utf-8", "surrogateescape")
    forms = []
    for before in range(3):
        encoded = b2a_base64(bytes(before) + content, newline=False).decode()
        first = -(-before * 4 // 3)
        last = (before + len(content)) * 4 // 3
        form = encoded[first:last]
        if len(form) >= _SHORTEST_BASE64:
            forms += [form, form.replace("+", "-").replace("/", "_")]
        if not before:
            for width in _BASE64_WIDTHS:
                lines = [form[i : i + width] for i in range(0, len(form), width)]
                forms += [line for line in lines if len(line) >= _SHORTEST_BASE64]
    return forms


def _address_forms(text: str) -> "list[str]":
    """Return `text` as addresses contain it (`%2F`), if it differs."""
    forms = []
    # JavaScript's encodeURIComponent keeps some more characters.
    for kept in ("-._~", "-._~!*'()"):
        upper = ""
        for byte in text.encode("utf-8", "surrogateescape"):
            character = chr(byte)
            if character.isascii() and (character.isalnum() or character in kept):
                upper += character
            else:
                upper += f"%{byte:02X}"
        # Some programs escape `~`, of which some keep `*`.
        tilde = upper.replace("~", "%7E")
        for form in (upper, tilde, tilde.replace("%2A", "*")):
            if form != text:
                # A path keeps its slashes, and a form has `+` for a blank.
                forms += [form, form.replace("%2F", "/"), form.replace("%20", "+")]
    return [*forms, *[_lower_escapes(form) for form in forms]]


def _lower_escapes(form: str) -> str:
    """Return an address with its escapes in lower case."""
    first, *rest = form.split("%")
    return "%".join([first, *[part[:2].lower() + part[2:] for part in rest]])


def masked_text(text: str) -> str:
    """Return a message with `…` in place of the credentials in addresses, even in malformed ones.

    Credentials are the user name and password, and the values of query parameters whose names look
    secret. The user name of an ssh address is not masked. A password may contain blanks. The time
    is linear in the length of `text`.
    """
    return _without_credentials(text, f"{_LOGIN}|{_BARE_LOGIN}|{_BROKEN_LOGIN}")


def _without_credentials(text: str, pattern: str = f"{_LOGIN}|{_BROKEN_LOGIN}") -> str:
    # Importing `re` takes as long as half a run, and the arguments of a recorded run get here.
    if not _may_have_login(text) and not _may_have_secret_parameter(text):
        return text

    import re

    def without_login(login: "re.Match[str]") -> str:
        is_ssh = login.string.endswith("ssh://", 0, login.start())
        if not is_ssh:
            return "…"
        user, _, _ = login[0].partition(":")
        return user

    def without_value(parameter: "re.Match[str]") -> str:
        name = parameter["name"]
        if _is_telling(name):
            return f"{name}=…"
        return parameter[0]

    shown = ""
    for line in text.splitlines(keepends=True):
        # The patterns search only up to the last @, so that the time is linear.
        before, at, behind = line.rpartition("@")
        shown += re.sub(pattern, without_login, before + at)
        shown += behind
    return re.sub(_PARAMETER, without_value, shown)


def _may_have_login(text: str) -> bool:
    before_last_at, _, _ = text.rpartition("@")
    return ":" in before_last_at or "//" in before_last_at


def _may_have_secret_parameter(text: str) -> bool:
    if "=" not in text or _PARAMETER_MARKS.isdisjoint(text):
        return False
    folded = text.casefold()
    return "pass=" in folded or "pat=" in folded or _is_telling(text)


def _is_telling(text: str) -> bool:
    folded = text.casefold()
    for part in _TELLING_PARTS:
        if part in folded:
            return True
    is_harmless = folded.endswith(("bypass", "compass", "compat"))
    return folded.endswith(("pass", "pat")) and not is_harmless
