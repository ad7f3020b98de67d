"""Switches of the caller, and the home directory if the caller has none."""

import os
import posix

import pytest

from host.caller import home, is_on, xdg_home


@pytest.mark.parametrize("value", ["true", "1", "on", "ON", "True"])
def test_on(value):
    assert is_on(value)


@pytest.mark.parametrize("value", [None, "", "0", "off", "yes", "2", "on "])
def test_off(value):
    assert not is_on(value)


def test_home_without_a_variable_or_an_account(monkeypatch):
    import pwd

    assert home({"HOME": "/h"}) == "/h"
    assert home({}) == home({"HOME": ""}) == pwd.getpwuid(os.getuid()).pw_dir
    monkeypatch.setattr(posix, "getuid", lambda: 3_999_999_999)
    assert home({}) == "/"
    assert xdg_home({}, "DATA") == "/.local/share"
