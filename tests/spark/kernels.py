"""A kernel of Jupyter as JupyterLab has it: cells are run in it, watched while they run, and interrupted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

GIVE_UP_S = 300  # nothing here takes so long on any machine; what hangs, hangs longer


@dataclass
class Answer:
    """What came out of a cell."""

    printed: str = ""
    errors: list[str] = field(default_factory=list)  # "name: text", as the page shows them
    result: str = ""  # of the last line
    is_done: bool = False


@dataclass
class Kernel:
    """A running kernel; `stderr` is all that it has printed there, in whichever cell."""

    manager: KernelManager
    client: BlockingKernelClient
    stderr: str = ""

    def run(self, code: str, when: str = "", do: Callable[[], None] | None = None) -> Answer:
        """Run a cell; once it has printed `when`, `do` something to it."""
        answer, request = Answer(), self.client.execute(code)
        deadline = time.monotonic() + GIVE_UP_S
        while not answer.is_done:
            assert time.monotonic() < deadline, f"the cell hangs: {code}"
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except Empty:
                continue
            self._note(message, answer, message["parent_header"].get("msg_id") == request)
            if do and when in answer.printed:
                do, _ = None, do()
        return answer

    def _note(self, message: dict, answer: Answer, is_of_cell: bool) -> None:
        content = message["content"]
        match message["msg_type"]:
            case "stream" if content["name"] == "stderr":
                self.stderr += content["text"]
            case "stream":
                answer.printed += content["text"]
            case "error":
                answer.errors.append(f"{content['ename']}: {content['evalue']}")
            case "execute_result":
                answer.result = content["data"]["text/plain"]
            case "status":
                answer.is_done = is_of_cell and content["execution_state"] == "idle"

    def interrupt(self) -> None:
        """What the stop button does."""
        self.manager.interrupt_kernel()


@contextmanager
def running_kernel(**variables: str) -> Iterator[Kernel]:
    """A kernel of this Python, killed at the end."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(extra_arguments=["--log-level=ERROR"], env={**os.environ, **variables})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=GIVE_UP_S)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
