"""A preview of a run, without connecting: names only, never values."""

from __future__ import annotations

import json
from typing import Any

from cli_host_fleet import rollout
from cli_host_fleet.fleet import Options
from cli_host_fleet.job import Job
from host import printable


def preview(job: Job, options: Options, form: str) -> str:
    """Return the hosts by batch, the files and the names of variables, as text or JSON (`form`)."""
    names = list(job.hosts)
    batches = []
    for batch in rollout.batches(names, options.serial):
        batches.append([*batch])

    plan: dict[str, Any] = {
        "command": job.masked_words(),
        "batches": batches,
        "at_once": options.forks,
        "files": job.shipment.names,
        "links": job.shipment.targets,
        "bytes": job.shipment.size,
        "variables": job.names(),
    }

    if form == "text":
        return _text(plan)
    if form == "json":
        return json.dumps(plan, indent=2)
    return json.dumps(plan)  # on one line


def _text(plan: dict[str, Any]) -> str:
    command = " ".join(plan["command"])
    lines = [f"command    {printable(command)}"]

    for number, batch in enumerate(plan["batches"], 1):
        lines.append(f"batch {number}    {' '.join(batch)}")
    lines.append(f"at once    {plan['at_once']}")

    count = len(plan["files"])
    lines.append(f"files      {count}, {plan['bytes']} bytes to each host")
    for name in plan["files"]:
        target = plan["links"].get(name)
        shown = f"{name} -> {target}" if target else name
        lines.append(f"           {printable(shown)}")

    variables = " ".join(plan["variables"])
    lines.append(f"variables  {variables or 'none'}")
    return "\n".join(lines)
