"""Errors and warnings on stderr: one line each, escaped, and each warning once."""

from host.messages import Messages


def test_messages(capfd):
    messages = Messages("pro\x1bgram", {"DEBUG": "on"})
    messages.error("bad\n\udcff")
    messages.warn("once")
    messages.warn("once")
    messages.debug("detail")
    Messages("p", {}).debug("not shown")
    lines = capfd.readouterr().err.splitlines()
    assert lines[:2] == ["pro\\x1bgram: bad\\n\\xff", "pro\\x1bgram: warning: once"]
    assert lines[2].startswith("[DEBUG] 2")
    assert lines[2].endswith(" - detail")
    assert len(lines) == 3
