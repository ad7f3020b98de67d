"""What is posted, and what happens if it cannot be posted, with a real HTTP server."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from webhook import plugin
from webhook.report import report

from host import AfterRun, FinishedRun


def finished(status, signal=0):
    return FinishedRun(
        id="0123456789ab",
        start="2026-03-01T09:30:00.125Z",
        seconds=42.4,
        words=("deploy", "app"),
        arguments=("two words", "********"),
        directory="/srv",
        user="ada",
        host="web1",
        version="1.2.3",
        plugin="",
        status=status,
        signal=signal,
        origin="ci",
    )


@pytest.fixture
def chat(monkeypatch):
    """A chat server: `posted` has its messages, `status` is its answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            server.posted.append(json.loads(self.rfile.read(length)))
            self.send_response(server.status)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.posted = []
    server.status = 200
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv(
        "WEBHOOK_URL", f"http://127.0.0.1:{server.server_port}/hooks/s3cr3t"
    )
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_hook_names_the_function():
    [after] = plugin.after_run(None)
    assert after == AfterRun("report", f"{report.__module__}:{report.__name__}")


def test_a_failure_is_posted(chat, capsys):
    report(finished(3))
    [message] = chat.posted
    text = "ada@web1: deploy app 'two words' '********' ended with status 3 after 42 s"
    assert message["text"] == text
    assert (message["id"], message["status"], message["origin"]) == (
        "0123456789ab",
        3,
        "ci",
    )
    assert capsys.readouterr().err == ""


def test_a_signal_is_named(chat):
    report(finished(143, signal=15))
    assert " ended with signal 15 after " in chat.posted[0]["text"]


def test_a_success_is_not_posted(chat):
    report(finished(0))
    assert chat.posted == []


def test_without_an_address_nothing_happens(monkeypatch, capsys):
    monkeypatch.delenv("WEBHOOK_URL", raising=False)
    report(finished(3))
    assert capsys.readouterr().err == ""


def test_a_refusal_and_a_server_that_is_gone(chat, monkeypatch, capsys):
    chat.status = 500
    report(finished(3))
    monkeypatch.setenv("WEBHOOK_URL", "http://127.0.0.1:1/hooks/s3cr3t")
    report(finished(3))
    refused, gone = capsys.readouterr().err.splitlines()
    assert (
        refused
        == "webhook: the failed run 0123456789ab is not reported: HTTP status 500"
    )
    assert (
        gone == "webhook: the failed run 0123456789ab is not reported: ConnectionError"
    )
