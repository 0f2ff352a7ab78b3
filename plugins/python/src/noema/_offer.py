"""Offers functions of this process to one run of the command, at a Unix socket of its own."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import struct
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from . import contract as c
from ._solve import description
from .functions import FunctionMethod

_LONGEST = 64 << 20  # bytes of a message, as between the kernel and plugins


class Offer:
    """While it is open, the command whose environment has its variables can run the functions."""

    def __init__(self, methods: Sequence[FunctionMethod]) -> None:
        self._methods: dict[str, FunctionMethod] = {}
        listed = []
        for m in methods:
            key = m.label.split("?")[0]
            if key in self._methods:
                if self._methods[key].__noema_function__ is not m.__noema_function__:
                    raise ValueError(f"two functions are called {key!r}: give one another name, by noema.method(name=…)")
                continue
            plain = FunctionMethod(m.__noema_function__, m.name, m.version, m.answers, m.tools)
            self._methods[key] = plain
            listed.append({"Description": _described(description(plain), key), "Code": m.code().digest()})
        self._listed = json.dumps(listed).encode()
        self._folder = ""
        self._told: set[str] = set()  # of all trials: a notebook is not flooded by one fault

    def __enter__(self) -> dict[str, str]:
        """Begins to listen, and returns the variables."""
        if not self._methods:
            return {}
        from ._session import spawn  # which needs protobuf

        self._folder = tempfile.mkdtemp(prefix="noema-")  # which this user alone may enter
        address = os.path.join(self._folder, "s")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(address)
        self._listener.listen(256)
        spawn("noema-offer", self._accept)
        return {"NOEMA_FUNCTIONS": address}

    def __exit__(self, *why: object) -> None:
        if self._folder:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # ends accept
            self._listener.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _accept(self) -> None:
        from ._session import spawn

        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed
                return
            spawn("noema-trial", self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            messages = _messages(connection)
            name = next(messages, b"").decode()
            if not name:
                _send(connection, self._listed)
            elif name in self._methods:
                self._trial(self._methods[name], connection, messages)

    def _trial(self, method: FunctionMethod, connection: socket.socket, messages: Iterator[bytes]) -> None:
        from ._session import Session, first, spawn

        start, frames = first(messages)
        if start is None:
            return
        session = Session(c.Problem(query=""), self._told)
        spawn("noema-solve", session.run, method, description(method), start)
        spawn("noema-receive", session.listen, frames, messages)
        try:
            for raw in session.outbox.messages():
                _send(connection, raw)
        finally:  # the method hears that the other side is gone
            session.outbox.abort()
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _described(d: c.Description, name: str) -> dict[str, Any]:
    """A description as the command reads it."""
    options = [
        {"Name": o.name, "Type": o.type, "Default": o.default_text, "Choices": list(o.choices), "Doc": o.doc} for o in d.options
    ]
    return {"Name": name, "Summary": d.summary, "Answers": list(d.answers), "Tools": list(d.tools), "Options": options}


def _send(connection: socket.socket, message: bytes) -> None:
    connection.sendall(struct.pack(">I", len(message)) + message)


def _messages(connection: socket.socket) -> Iterator[bytes]:
    """The messages that come, until the other side ends."""
    with connection.makefile("rb") as stream, contextlib.suppress(OSError):
        while len(head := stream.read(4)) == 4:
            (size,) = struct.unpack(">I", head)
            if size > _LONGEST:
                return
            yield stream.read(size)
