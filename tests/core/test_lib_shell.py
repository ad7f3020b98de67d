"""shell.sh."""

import os
import pwd

import pytest

LOAD = 'set -eu\n. "$LIB_DIR/shell.sh"\nOSTYPE=linux-gnu\n'
SHOW = "detect_shell_type; detect_shell_config"


@pytest.mark.parametrize(
    ("login", "kind", "file"),
    [
        ("/bin/bash", "bash", "/h o/.bashrc"),
        ("/usr/local/bin/zsh", "zsh", "/h o/.zshrc"),
        ("/usr/bin/fish", "fish", "/h o/.config/fish/config.fish"),
        ("/bin/tcsh", "unknown", "/h o/.profile"),
    ],
)
def test_the_users_shell(run, shell, login, kind, file):
    env = {"HOME": "/h o", "SHELL": login}
    assert run(shell, LOAD + SHOW, env=env) == (0, f"{kind}\n{file}\n", "")


def test_places_that_the_user_chose(run, shell):
    env = {"HOME": "/h", "ZDOTDIR": "/z", "XDG_CONFIG_HOME": "/c"}
    script = f"{LOAD}SHELL=zsh; detect_shell_config; SHELL=fish; detect_shell_config"
    assert run(shell, script, env=env).out == "/z/.zshrc\n/c/fish/config.fish\n"


def test_bash_on_macos(run, shell):
    env = {"HOME": "/h", "SHELL": "/bin/bash"}
    assert (
        run(shell, f"{LOAD}OSTYPE=darwin23\n{SHOW}", env=env).out
        == "bash\n/h/.bash_profile\n"
    )


def test_without_home_and_shell_the_password_file_tells(run, shell):
    user = pwd.getpwuid(os.geteuid())
    kind = os.path.basename(user.pw_shell)
    out = run(shell, f"{LOAD}unset SHELL HOME\n{SHOW}").out.splitlines()
    assert out[0] == (kind if kind in {"bash", "zsh", "fish"} else "unknown")
    assert out[1].startswith(user.pw_dir + "/.")
