"""`setup <tool>` on macOS, against a brew that notes what it is asked."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from builtin_plugins.setup import command as setup
from builtin_plugins.setup import macos
from builtin_plugins.setup.macos import is_installed
from builtin_plugins.setup.tool_settings import ToolSettings
from host.errors import OperationError
from testing.machine import tool_run

BREW = """#!/bin/sh
prefix=$(dirname "$(dirname "$0")")
printf '%s\\n' "$*" >> "$prefix/log"
[ -e "$prefix/fails" ] && exit 3
app="$HOME/Applications/Tool.app/Contents/MacOS"
case $1 in
install) mkdir -p "$prefix/Caskroom/$3" "$app"
    printf '#!/bin/sh\\necho "mac $1"\\n' > "$app/Tool"; chmod +x "$app/Tool" ;;
uninstall) rm -r "$prefix/Caskroom/$3" "$HOME/Applications/Tool.app" ;;
esac
echo "brew says $1"
"""


class Mac:
    """A home and a Homebrew of its own."""

    def __init__(self, root: Path, run: dict[str, str]) -> None:
        self.prefix = root / "homebrew"
        self.brew = self.prefix / "bin" / "brew"
        self.brew.parent.mkdir(parents=True)
        self.brew.write_text(BREW)
        self.brew.chmod(0o755)
        self.command = self.prefix / "bin" / "tool"
        self.environ = {
            "PATH": f"{self.prefix}/bin:/usr/bin:/bin",
            "HOME": str(root / "home"),
            **run,
        }

    def run(self, *options: str, **environ: str) -> int:
        return setup.run(options, self.environ | environ, "darwin")

    def asked(self) -> list[str]:
        log = self.prefix / "log"
        return log.read_text().splitlines() if log.exists() else []

    def listed(self) -> bool:
        return is_installed(ToolSettings.read("tool", "Tool", self.environ))


@pytest.fixture
def mac(tmp_path: Path) -> Iterator[Mac]:
    with tool_run() as run:
        yield Mac(tmp_path, run)


def test_install_upgrade_uninstall(mac: Mac, capfd: pytest.CaptureFixture[str]) -> None:
    assert not mac.listed()
    assert mac.run() == 0
    assert mac.listed()
    assert subprocess.check_output([mac.command, "hello"], text=True) == "mac hello\n"
    assert mac.run() == 0
    assert mac.run("--upgrade") == 0
    assert mac.run("--uninstall") == 0
    assert not mac.listed()
    assert not mac.command.exists()
    assert mac.run("--uninstall") == 0
    assert mac.asked() == [
        "install --cask tool",
        "upgrade --cask tool",
        "uninstall --cask tool",
    ]
    shown = capfd.readouterr()
    assert shown.out == ""
    for expected in (
        "brew says install",
        "Tool is already installed",
        "Tool is not installed",
    ):
        assert expected in shown.err


def test_the_cask_may_have_another_name(mac: Mac) -> None:
    mac.run(TOOL_HOMEBREW_CASK="tool-app@2")
    assert mac.asked() == ["install --cask tool-app@2"]


def test_without_brew_it_says_what_to_do(
    mac: Mac, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(macos, "_BREWS", ("brew",))
    with pytest.raises(
        OperationError, match=r"Homebrew is not installed; see https://brew.sh"
    ):
        mac.run(PATH="/usr/bin:/bin")


def test_upgrade_when_not_installed_is_an_error(mac: Mac) -> None:
    with pytest.raises(OperationError, match=r"Tool is not installed"):
        mac.run("-u")
    assert mac.asked() == []


def test_a_failure_of_brew_is_told(mac: Mac) -> None:
    (mac.prefix / "fails").touch()
    with pytest.raises(
        OperationError, match=r"brew install --cask tool failed with status 3"
    ):
        mac.run()


def test_a_command_of_somebody_else_stays(mac: Mac) -> None:
    mac.command.write_text("#!/bin/sh\necho mine\n")
    mac.run()
    mac.run("--uninstall")
    assert mac.command.read_text() == "#!/bin/sh\necho mine\n"


def test_the_users_own_things_stay(mac: Mac) -> None:
    own = Path(mac.environ["HOME"]) / "Tool" / "collection"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    for options in ((), ("-u",), ("--uninstall",)):
        mac.run(*options)
        assert own.read_text() == "mine"
    assert all("zap" not in line for line in mac.asked())


def test_an_application_that_is_not_found_is_a_warning(
    mac: Mac, capfd: pytest.CaptureFixture[str]
) -> None:
    mac.brew.write_text(BREW.replace("Tool.app", "Other.app"))
    assert mac.run() == 0
    assert "warning: Tool.app was not found" in capfd.readouterr().err
    assert not mac.command.exists()


def test_a_chosen_directory_for_the_command(mac: Mac, tmp_path: Path) -> None:
    mac.run(TOOL_BIN_DIR=str(tmp_path / "mine"))
    assert subprocess.check_output([tmp_path / "mine" / "tool"], text=True) == "mac \n"
