"""One small face for two browsers: a page that is opened, asked in its own language, and watched.

Chromium is driven by Playwright, as in tests/browser; Firefox, which Playwright cannot drive as it is installed, over
WebDriver BiDi on its own port.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Error, sync_playwright
from websocket import WebSocket, create_connection

from tests.browser.lab import CHROMIUM_NAMES, launch

KEEPER = str(Path(__file__).with_name("keeper.py"))
FIREFOX_NAMES = ("firefox-esr", "firefox")
SECONDS = 240  # a busy machine may take its time; what never comes fails all the same
# Any address leads to a proxy that is not there: no connection leaves the machine.
_OFFLINE = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
}


@dataclass
class Seen:
    """What a page has asked for and complained of."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # by the page's policy

    @property
    def outside(self) -> list[str]:
        """The requests that the policy let go anywhere but to the folder and the page itself."""
        at_home = ("file:", "data:", "blob:", "about:")
        return [url for url in self.requests if not url.startswith(at_home) and url not in self.refused]


class Shown(Protocol):
    """A page in a browser."""

    seen: Seen

    def open(self, url: str) -> None:
        """Go to an address and wait until the page is there."""

    def run(self, script: str, *values: object, in_frame: bool = False) -> Any:
        """The value of ``(...values) => script``'s Promise, in the page or in the frame that it shows."""


def wait_for(shown: Shown, condition: str, *values: object, in_frame: bool = False) -> Any:
    """What a function in JavaScript gives as soon as it gives something; AssertionError if it never does."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        with suppress(Error if in_frame else ()):  # a frame whose page is changing is none for a moment
            if given := shown.run(condition, *values, in_frame=in_frame):
                return given
        time.sleep(0.1)
    raise AssertionError(f"never true: {condition} {values}; the page said {shown.seen.errors}")


class ChromiumPage:
    """A page in Chromium."""

    def __init__(self, page) -> None:
        """Watch it."""
        self.page, self.seen = page, Seen()
        page.set_default_timeout(SECONDS * 1000)
        page.on("request", lambda request: self.seen.requests.append(request.url))
        page.on("requestfailed", self._hear_failure)
        page.on("pageerror", lambda error: self.seen.errors.append(str(error)))
        page.on("console", lambda said: self.seen.errors.append(said.text) if said.type == "error" else None)

    def _hear_failure(self, request) -> None:
        if request.failure == "csp":  # a lost connection has other words
            self.seen.refused.append(request.url)

    def open(self, url: str) -> None:
        self.page.goto(url)

    def run(self, script: str, *values: object, in_frame: bool = False) -> Any:
        target = self.page.frames[-1] if in_frame else self.page
        return target.evaluate(f"(values) => ({script})(...values)", list(values))


class FirefoxPage:
    """A page in Firefox: commands and events as JSON over one WebSocket (WebDriver BiDi)."""

    def __init__(self, socket: WebSocket) -> None:
        """Begin a session and watch its first page."""
        self._socket, self._number, self.seen = socket, 0, Seen()
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent", "network.fetchError"])
        self._context = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def open(self, url: str) -> None:
        navigate = partial(self._ask, "browsingContext.navigate", context=self._context, url=url, wait="complete")
        try:
            navigate()
        except Error as error:  # a frame of the page before was still loading: Firefox says it of the new page
            if "NS_BINDING_ABORTED" not in str(error):
                raise
            navigate()

    def run(self, script: str, *values: object, in_frame: bool = False) -> Any:
        context = self._context
        if in_frame:
            context = self._ask("browsingContext.getTree", root=context)["contexts"][0]["children"][0]["context"]
        # Plain data both ways: as text, since BiDi's own form of values has a type at each of them.
        whole = f"async () => JSON.stringify((await ({script})(...{json.dumps(values)})) ?? null)"
        answered = self._ask(
            "script.callFunction", functionDeclaration=whole, awaitPromise=True, target={"context": context}
        )
        if answered["type"] == "exception":
            raise Error(answered["exceptionDetails"]["text"])
        return json.loads(answered["result"]["value"])

    def _ask(self, method: str, **parameters: object) -> dict:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            said = json.loads(self._socket.recv())
            if said.get("id") == self._number:
                if said["type"] == "error":
                    raise Error(f"{method}: {said['message']}")
                return said["result"]
            self._hear(said)

    def _hear(self, said: dict) -> None:
        if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
            self.seen.errors.append(said["params"]["text"])
        elif said.get("method") == "network.beforeRequestSent":
            self.seen.requests.append(said["params"]["request"]["url"])
        elif said.get("method") == "network.fetchError" and "BLOCKED" in said["params"]["errorText"]:
            self.seen.refused.append(said["params"]["request"]["url"])


@contextmanager
def chromium() -> Iterator[ChromiumPage]:
    """A page in a headless Chromium without a network; the test is skipped where there is none."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            pytest.skip(f"no Chromium: {', '.join(CHROMIUM_NAMES)} are not on PATH, and Playwright has none installed")
        try:
            yield ChromiumPage(browser.new_context(offline=True).new_page())
        finally:
            browser.close()


@contextmanager
def firefox() -> Iterator[FirefoxPage]:
    """A page in a headless Firefox without a network; the test is skipped where there is none."""
    program = next((path for name in FIREFOX_NAMES if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no Firefox: {', '.join(FIREFOX_NAMES)} are not on PATH")
    home = Path(tempfile.mkdtemp(prefix="kafkalearn-firefox-"))
    try:
        profile, log = home / "profile", home / "log"
        profile.mkdir()
        lines = [f'user_pref("{name}", {json.dumps(value)});' for name, value in _OFFLINE.items()]
        (profile / "user.js").write_text("\n".join(lines))
        command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
        keeper = [sys.executable, "-I", "-S", KEEPER, str(home), *command, "about:blank"]
        with subprocess.Popen(keeper, stdin=subprocess.PIPE) as process:  # which ends with this Python's end, or here
            socket = create_connection(f"{_address(log, process)}/session", timeout=SECONDS, suppress_origin=True)
            yield FirefoxPage(socket)
            socket.close()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _address(log: Path, process: subprocess.Popen) -> str:
    """Where it listens, as it says itself."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        said = log.read_text(errors="replace") if log.exists() else ""
        if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", said):
            return found[1]
        time.sleep(0.1)
    raise RuntimeError(f"Firefox did not come up:\n{said}")
