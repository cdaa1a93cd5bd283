"""JupyterLab's side of making the lessons' data beforehand: a process that ends with the server, and what it is at.

`kafkalearn.lab.server.lab_options` names this module as an extension of the server. The page asks what is being made at
``kafkalearn/preparing`` and says it in the status bar. With ``KAFKALEARN_PREPARE=0`` nothing is started.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from jupyter_server.base.handlers import APIHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado import web

SWITCH = "KAFKALEARN_PREPARE"
COMMAND = (sys.executable, "-m", "kafkalearn.spark.data.preparing")


def is_wanted(environ: Mapping[str, str]) -> bool:
    """Whether data is to be made beforehand.

    >>> is_wanted({}), is_wanted({"KAFKALEARN_PREPARE": "0"})
    (True, False)
    """
    return environ.get(SWITCH, "1") not in ("0", "no", "off", "false")


class Preparing:
    """The process that makes the data, and what it said last."""

    def __init__(self, command: Sequence[str] | None = None) -> None:
        """Start it. Its input is a pipe of this process: however this one ends, it sees the end of it."""
        self.said: dict[str, Any] = {}
        self.is_running = True
        self.process = subprocess.Popen(
            command or COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            creationflags=getattr(subprocess, "IDLE_PRIORITY_CLASS", 0),  # Windows; elsewhere it sets its own
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                self.said = json.loads(line)
        self.process.wait()
        self.is_running = False

    def state(self) -> dict[str, Any]:
        """What is being made: ``lesson``, ``number``, ``of``; and ``running``. Or why it has ``stopped``."""
        return {"running": self.is_running} | (self.said if self.is_running or "stopped" in self.said else {})


class StateHandler(APIHandler):
    """Answers what is being made."""

    def initialize(self, preparing: Preparing | None) -> None:
        """Remember whom to ask; None: nothing is made."""
        self.preparing = preparing

    @web.authenticated
    def get(self) -> None:
        """The state as JSON."""
        self.finish(json.dumps(self.preparing.state() if self.preparing else {"running": False}))


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(app: ServerApp) -> None:
    """Begin, and let the page ask."""
    preparing = Preparing() if is_wanted(os.environ) else None
    path = url_path_join(app.web_app.settings["base_url"], "kafkalearn", "preparing")
    app.web_app.settings.setdefault("page_config_data", {})["kafkalearnPreparing"] = preparing is not None
    app.web_app.add_handlers(".*$", [(path, StateHandler, {"preparing": preparing})])
