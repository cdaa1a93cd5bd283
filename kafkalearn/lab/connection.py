"""JupyterLab's side of the course: a kernel connection that does not wait before it sends.

``make lab`` names the class in JupyterLab's options; nothing else imports this module.
"""

from __future__ import annotations

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class NoDelayConnection(ZMQChannelsWebsocketConnection):
    """The server's connection between page and kernel, with each message sent at once.

    The server leaves Nagle's algorithm on: a small message waits until the one before it is acknowledged, and
    browsers acknowledge late. A slider then takes about 45 ms to reach the kernel and back, here about 3 ms.
    """

    def connect(self):
        """What the server's own class returns; the socket is set before the first message."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()
