"""`kafkalearn.lab.preparing` with a process that says a line and makes nothing, until its folder has a file ``end``."""

import sys

from kafkalearn.lab import preparing

COMMAND = """
import json, pathlib, time
print(json.dumps({"lesson": "07", "number": 3, "of": 12}), flush=True)
while not pathlib.Path("end").exists():
    time.sleep(0.1)
"""


def _jupyter_server_extension_points():
    return [{"module": __name__}]


def _load_jupyter_server_extension(app):
    preparing.COMMAND = (sys.executable, "-c", f"import os; os.chdir({str(app.root_dir)!r})\n{COMMAND}")
    preparing._load_jupyter_server_extension(app)
