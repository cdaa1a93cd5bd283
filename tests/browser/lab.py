"""JupyterLab on a folder of notebooks, and a headless Chromium that drives it: for the tests and the benchmarks."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
from playwright.sync_api import Browser, Page, Playwright

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGUMENTS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},  # else a dialog asks
    "notebook-extension/tracker": {"windowingMode": "none"},  # cells that are scrolled away stay in the page
}


@dataclass
class Lab:
    """A running JupyterLab, the folder it serves, and the environment it runs in."""

    url: str
    folder: Path
    environment: dict[str, str]
    server: subprocess.Popen

    def put(self, name: str, notebook: nbformat.NotebookNode, is_trusted: bool = False) -> None:
        """Add a notebook, as one that has just been cloned, or as one that this user has run."""
        nbformat.write(notebook, self.folder / name)
        if is_trusted:
            trust = [sys.executable, "-m", "jupyter", "trust", str(self.folder / name)]
            subprocess.run(trust, env=self.environment, check=True, capture_output=True)


@dataclass
class Watched:
    """A page, and everything its console called an error."""

    page: Page
    errors: list[str] = field(default_factory=list)

    def open_notebook(self, lab: Lab, name: str) -> None:
        """Open a notebook in JupyterLab and wait until its kernel idles; nothing is run."""
        self.page.goto(f"{lab.url}/doc/tree/{name}?reset")
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=180_000)
        self.page.wait_for_function(
            "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'", timeout=180_000
        )

    def run_all(self, timeout_ms: int) -> None:
        """Run every cell and wait until the last is done; Spark's cells take their time."""
        self.page.evaluate(
            "() => { window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => { window.isRun = 1; }); }"
        )
        self.page.wait_for_function("window.isRun === 1", timeout=timeout_ms)


def find_chromium(playwright: Playwright) -> str | None:
    """The system's Chromium, or the one Playwright itself has installed."""
    on_path = next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
    own = playwright.chromium.executable_path
    return on_path or (own if Path(own).exists() else None)


def watch(browser: Browser) -> Watched:
    """A new page whose errors are written down."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(180_000)  # Playwright's own, half a minute, is one that a busy machine can miss
    watched = Watched(page)
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    page.on("console", lambda said: watched.errors.append(said.text) if said.type == "error" else None)
    return watched


@contextmanager
def running_lab(home: Path, *options: str) -> Iterator[Lab]:
    """JupyterLab on loopback, on ``home/notebooks``; its settings and data are in `home` too, for another day."""
    folder = home / "notebooks"
    folder.mkdir(exist_ok=True)
    port, environment = _free_port(), _environment(home)
    with (home / "log").open("w") as log:
        server = subprocess.Popen([*_command(port, folder), *options], env=environment, stdout=log, stderr=log)
        try:
            _wait_until_up(f"http://127.0.0.1:{port}/api", server, home / "log")
            yield Lab(f"http://127.0.0.1:{port}", folder, environment, server)
        finally:
            _end(server)


def launch(playwright: Playwright) -> Browser | None:
    """A headless Chromium, or None where there is none."""
    chromium = find_chromium(playwright)
    return chromium and playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_ARGUMENTS))


def _end(server: subprocess.Popen) -> None:
    """Let it terminate: it ends its kernels first, and then may wait for ever for a thread that has saved a file."""
    server.terminate()
    try:
        server.wait(timeout=60)
    except subprocess.TimeoutExpired:
        server.kill()


def _command(port: int, folder: Path) -> list[str]:
    """No token and no forgery check: it listens on loopback for the length of a test."""
    return [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={folder}"),
        "--LanguageServerManager.autodetect=False",  # as `make lab` has it
    ]


def _environment(home: Path) -> dict[str, str]:
    for name, wanted in SETTINGS.items():
        path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(wanted))
    folders = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
    }
    # What ten million rows give is compared by nbval; here it is the page that is looked at.
    return os.environ | {name: str(path) for name, path in folders.items()} | {"KAFKALEARN_LESSON_SIZE": "small"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_up(url: str, server: subprocess.Popen, log: Path, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            urlopen(url, timeout=2).close()
            return
        except (URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not come up:\n{log.read_text()}")
