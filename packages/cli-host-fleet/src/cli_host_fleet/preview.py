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
    batches = [
        list(batch) for batch in rollout.batches(list(job.hosts), options.serial)
    ]
    plan: dict[str, Any] = {
        "command": job.masked_words(),
        "batches": batches,
        "at_once": options.forks,
        "files": job.shipment.names,
        "bytes": job.shipment.size,
        "variables": job.names(),
    }
    if form != "text":
        return json.dumps(plan, indent=2 if form == "json" else None)
    lines = [f"command    {printable(' '.join(plan['command']))}"]
    lines += [
        f"batch {number}    {' '.join(batch)}"
        for number, batch in enumerate(batches, 1)
    ]
    lines += [
        f"at once    {options.forks}",
        f"files      {len(plan['files'])}, {plan['bytes']} bytes to each host",
        *(f"           {printable(name)}" for name in plan["files"]),
        f"variables  {' '.join(plan['variables']) or 'none'}",
    ]
    return "\n".join(lines)
