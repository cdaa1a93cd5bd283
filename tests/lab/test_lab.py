"""JupyterLab's server with our connection class, and a kernel behind it that answers."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from urllib.error import URLError

import pytest
from websocket import create_connection

from kafkalearn.lab.server import NoDelayConnection
from tools.environment import ROOT

TOKEN = "0123456789"


class Reporting(NoDelayConnection):
    """Writes down how the server's socket is set once the page is connected."""

    def connect(self):
        started = super().connect()
        stream = self.websocket_handler.ws_connection.stream
        is_set = stream.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        with open(os.environ["NO_DELAY_REPORT"], "w") as report:
            report.write("no delay" if is_set else "delay")
        return started


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def server(tmp_path):
    port = free_port()
    options = ["--no-browser", "--allow-root", f"--ServerApp.root_dir={tmp_path}", f"--IdentityProvider.token={TOKEN}"]
    options += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    options += ["--ServerApp.kernel_websocket_connection_class=tests.lab.test_lab.Reporting"]
    folders = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    environ = {**os.environ, **folders, "PYTHONPATH": str(ROOT), "NO_DELAY_REPORT": str(tmp_path / "report")}
    command = [sys.executable, "-m", "jupyter_server", *options, "--KernelManager.transport_encryption=auto"]
    with subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL, cwd=tmp_path) as process:
        try:
            wait_until_up(process, f"http://127.0.0.1:{port}/api")
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()


def wait_until_up(process, url):
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except (URLError, OSError):
            time.sleep(0.05)
    pytest.fail("the server did not come up")


def test_the_kernel_answers_over_a_connection_that_sends_at_once(server, tmp_path):
    asked = urllib.request.Request(f"http://{server}/api/kernels?token={TOKEN}", data=b"{}", method="POST")
    kernel_id = json.load(urllib.request.urlopen(asked))["id"]

    connection = create_connection(f"ws://{server}/api/kernels/{kernel_id}/channels?token={TOKEN}", timeout=60)
    header = {"msg_id": "1", "msg_type": "kernel_info_request", "session": "s", "username": "", "version": "5.3"}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": {}, "channel": "shell"}
    connection.send(json.dumps(message))
    while (reply := json.loads(connection.recv()))["header"]["msg_type"] != "kernel_info_reply":
        pass
    connection.close()

    assert reply["content"]["language_info"]["name"] == "python"
    assert (tmp_path / "report").read_text() == "no delay"
