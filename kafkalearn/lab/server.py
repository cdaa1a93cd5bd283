"""JupyterLab's options for the chapters: on this machine only, with our connection, and nothing asked outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

from kafkalearn.lab.working_copies import RECORD

_HERE = Path(__file__).parent
_SETTINGS = Path(__file__).parent / "settings"


def lab_options(
    folder: Path, words: Sequence[str], environ: Mapping[str, str], platform: str, is_root: bool, is_author: bool
) -> list[str]:
    """The options for JupyterLab on a folder of chapters, then the reader's own, which win.

    Parameters
    ----------
    folder : Path
        Where the chapters are.
    words : sequence of str
        Further options, as JupyterLab takes them.
    environ : mapping of str to str
        The environment: it tells whether a browser can be seen.
    platform : str
        As ``sys.platform``.
    is_root : bool
        Whether the user is root, as in containers.
    is_author : bool
        A reader's notebooks keep their players for the next day, and open at the chapter that
        they wrote in last, or the first; an author's do not.

    Examples
    --------
    >>> lab_options(Path("x"), ["--port=9"], {}, "linux", is_root=False, is_author=False)[-2:]
    ['--no-browser', '--port=9']
    """
    is_seen = platform in ("darwin", "win32") or any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    first = _where_to_begin(folder)
    options = [
        f"--ServerApp.root_dir={folder}",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.kernel_websocket_connection_class=kafkalearn.lab.server.NoDelayConnection",
        "--KernelManager.transport_encryption=auto",  # else each kernel warns the reader that its loopback has none
        "--LanguageServerManager.autodetect=False",  # else each chapter starts a type checker, if one is on PATH
        f"--LabApp.app_settings_dir={_SETTINGS / ('author' if is_author else 'reader')}",  # no news, no updates
        *([] if is_author else ["--ServerApp.jpserver_extensions=kafkalearn.lab.preparing=True"]),
        *([f"--LabApp.extra_labextensions_path={_HERE}"] if _has_extension() else []),
        *([f"--LabApp.default_url=/lab/tree/{first}"] if first and not is_author else []),
        *(["--allow-root"] if is_root else []),
        *(["--no-browser"] if not is_seen or environ.get("SSH_CONNECTION") else []),  # the address is printed
    ]
    given = {_name(word) for word in words}
    return [option for option in options if _name(option) not in given] + list(words)


def _has_extension() -> bool:
    """Whether kafkalearn-lab is whole beside this file; a wheel has its fonts only where JupyterLab looks itself."""
    return any((_HERE / "kafkalearn-lab").glob("*.woff2"))


def _where_to_begin(folder: Path) -> str | None:
    """The copy that was written in last; the first, if none was since the copies were made."""
    copies, record = sorted(folder.glob("*.ipynb")), folder / RECORD
    made = record.stat().st_mtime if record.exists() else float("inf")
    touched = [copy for copy in copies if copy.stat().st_mtime > made]
    return max(touched, key=lambda copy: copy.stat().st_mtime).name if touched else next((c.name for c in copies), None)


def _name(word: str) -> str:
    """``ip`` for --ip, --ServerApp.ip=0.0.0.0 and the like: given twice, JupyterLab would take neither."""
    return word.split("=")[0].lstrip("-").split(".")[-1]


class NoDelayConnection(ZMQChannelsWebsocketConnection):
    """The server's connection between page and kernel, with each message sent at once; `lab_options` names it.

    The server leaves Nagle's algorithm on: a small message waits until the one before it is acknowledged, and
    browsers acknowledge late. A slider then takes about 45 ms to reach the kernel and back, here about 3 ms.
    """

    def connect(self):
        """What the server's own class returns; the socket is set before the first message."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()
