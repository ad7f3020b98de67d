"""The hook: it names the function that gets each finished run."""

from host import AfterRun, hookimpl


@hookimpl
def after_run(installation):
    yield AfterRun("report", "webhook.report:report")
