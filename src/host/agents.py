"""Coding agents, known by variables that they set for the commands that they run.

Each name is a whole one, and none is configured by a person (as CODEX_HOME is). So an agent that
works on a pseudo-terminal is told from a person. Whoever can change the environment can change
this: it is a rule for agents that keep to it, not a boundary.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# The value of these is the name of the agent: https://github.com/vercel/vercel, detect-agent, and
# https://github.com/agentsmd/agents.md/issues/136.
_NAMING = ("AI_AGENT", "AGENT")
_SWITCHES = frozenset(["1", "true", "on", "yes"])

# What sets a variable, with the source. Some agents also set the variable of Claude Code, so that
# one comes last. Read in the published programs: claude-code 2.1.197 (which sets AI_AGENT, too),
# codex 0.171.0, gemini-cli 0.61.0, opencode 1.18.33 (AGENT=1, too), qwen-code 0.15.10 and
# auggie 0.36.0.
_AGENTS = (
    # docs/guides/environment-variables.md of goose
    ("GOOSE_TERMINAL", "goose"),
    # codex-rs/core/src/spawn.rs, exec_env.rs and unified_exec/process_manager.rs of codex
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_CI", "codex"),
    # docs/tools/shell.md of gemini-cli
    ("GEMINI_CLI", "gemini-cli"),
    # the shell tool of qwen-code, a fork of gemini-cli
    ("QWEN_CODE", "qwen-code"),
    # packages/opencode/src/index.ts of opencode
    ("OPENCODE", "opencode"),
    # https://github.com/cline/cline/discussions/5366: the editor's extension, not the CLI (3.0.65)
    ("CLINE_ACTIVE", "cline"),
    # augment.mjs of auggie
    ("AUGMENT_AGENT", "augment-cli"),
    # internal/agents/detect.go of gh, where the agents have no documentation of their own
    ("COPILOT_CLI", "copilot-cli"),
    ("ANTIGRAVITY_AGENT", "antigravity"),
    ("CURSOR_AGENT", "cursor-cli"),
    # https://code.claude.com/docs/en/env-vars
    ("CLAUDECODE", "claude-code"),
)


def agent_of(environ: "Mapping[str, str]") -> str:
    """Return the name of the agent that runs a command, or "" if none does, as far as is known."""
    is_agent = False
    for variable in _NAMING:
        name = environ.get(variable, "")
        if name and name.lower() not in _SWITCHES:
            return _without_version(name)
        is_agent = is_agent or bool(name)

    for variable, name in _AGENTS:
        if environ.get(variable):
            return name
    return "agent" if is_agent else ""


def _without_version(name: str) -> str:
    """Return the name of a known agent without what follows: `claude-code_2-1-197_agent`."""
    for _, known in _AGENTS:
        if name.startswith((f"{known}_", f"{known}/")):
            return known
    return name


def agent_variables() -> tuple[str, ...]:
    """Return the names of all variables that tell an agent."""
    return (*_NAMING, *[variable for variable, _ in _AGENTS])
