r"""Installations for tests: made from a dict of files, run with the real program.

With pytest, the fixture `install` makes as many as a test needs. Name the plugin in conftest.py::

    pytest_plugins = ["host.testing.pytest_plugin"]

Then a test runs commands and compares what they print::

    from host.testing import command


    def test_hello(install):
        acme = install(
            {
                "commands/greet/hello/command.json": command(envs={"GREETING": "Hello"}),
                "commands/greet/hello/main.sh": 'echo "$GREETING, $1!"',
            },
            program="acme",
        )
        done = acme.run("greet", "hello", "Ada", env={"GREETING": "Ahoy"})
        assert (done.status, done.stdout, done.stderr) == (0, "Ahoy, Ada!\n", "")

Other test runners call `installer` with a temporary directory.
"""

from host.testing.installations import InstalledProgram, RunResult, command, installer

__all__ = ["InstalledProgram", "RunResult", "command", "installer"]
