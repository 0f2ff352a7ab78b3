"""The plugin's process: how the kernel finds it, asks it, and ends it."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import grpc

from . import contract as c
from ._session import Session, first, spawn
from ._solve import description
from ._wire import MAX_MESSAGE, SERVICE, from_description
from .errors import Cancelled, describe

PROTOCOL_VERSION = 1
_COOKIE = ("NOEMA_PLUGIN", "method")
_PARENT_POLL_S = 0.2
_EXIT_GRACE_S = 1.0
_MAX_TRIALS = 4096  # at once; a thread is started when a trial needs it

_EMPTY = b""
_SERVING = b"\x08\x01"  # grpc.health.v1.HealthCheckResponse{status: SERVING}


class _Service:
    """The gRPC services of a plugin."""

    def __init__(self, method: Any) -> None:
        self._method = method
        self._description = description(method)
        self.ended = threading.Event()

    def handlers(self) -> Any:
        """What the server serves. Without it a peer hears "unimplemented", which the kernel expects of the rest."""
        return (
            _handler(
                SERVICE,
                Describe=grpc.unary_unary_rpc_method_handler(self._describe),
                Session=grpc.stream_stream_rpc_method_handler(self._session),
            ),
            _handler("grpc.health.v1.Health", Check=grpc.unary_unary_rpc_method_handler(lambda raw, ctx: _SERVING)),
            _handler("plugin.GRPCController", Shutdown=grpc.unary_unary_rpc_method_handler(self._shutdown)),
        )

    def _describe(self, raw: bytes, ctx: Any) -> bytes:
        return from_description(self._description)

    def _shutdown(self, raw: bytes, ctx: Any) -> bytes:
        ctx.add_callback(self.ended.set)
        return _EMPTY

    def _session(self, messages: Iterator[bytes], ctx: Any) -> Iterator[bytes]:
        """One trial."""
        start, frames = first(messages)
        if start is None:
            ctx.abort(grpc.StatusCode.INVALID_ARGUMENT, "open session: the first frame is not start")
        session = Session(c.Problem(query=""))
        if not ctx.add_callback(lambda: _gone(session)):
            return
        spawn("noema-solve", session.run, self._method, self._description, start)
        spawn("noema-receive", session.listen, frames, messages)
        yield from session.outbox.messages()


def _handler(service: str, **methods: Any) -> Any:
    return grpc.method_handlers_generic_handler(service, methods)


def _gone(session: Session) -> None:
    session.cancel(Cancelled("the session is over"))
    session.outbox.abort()


def serve(method: c.Method) -> None:
    """Makes this process a plugin that offers method to the kernel that started it.

    Returns when the kernel asks the plugin to end; when the kernel dies, ends
    the process. From here on what is printed goes to stderr, the plugin's log.
    """
    if os.environ.get(_COOKIE[0]) != _COOKIE[1]:
        _by_hand()
    try:
        service = _Service(method)
    except (TypeError, ValueError) as error:
        sys.exit(f"serve {type(method).__name__}: {describe(error)}")
    stdout = _take_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the kernel's: it cancels the trial
    parent = os.getppid()
    spawn("noema-parent", _exit_with, parent)
    address = os.path.join(tempfile.mkdtemp(prefix="py", dir=os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or None), "s")
    server = _start(service, address)
    os.write(stdout, f"1|{PROTOCOL_VERSION}|unix|{address}|grpc\n".encode())
    try:
        service.ended.wait()
        spawn("noema-exit", _exit_late)
        server.stop(grace=None).wait()
    finally:
        with contextlib.suppress(OSError):
            os.remove(address)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(address))


def _start(service: _Service, address: str) -> Any:
    options = [
        ("grpc.max_receive_message_length", MAX_MESSAGE),
        ("grpc.max_send_message_length", MAX_MESSAGE),
        ("grpc.so_reuseport", 0),
    ]
    server = grpc.server(ThreadPoolExecutor(_MAX_TRIALS, "noema-rpc"), options=options)
    server.add_generic_rpc_handlers(service.handlers())
    server.add_insecure_port("unix:" + address)
    server.start()
    return server


def _take_stdout() -> int:
    """Keeps stdout for the handshake, and has what is printed go to stderr.

    That includes what was printed before and is still in the buffer, which is
    all that a method's imports print unless it is much.
    """
    kept = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()
    with contextlib.suppress(AttributeError):  # not a file, in a test
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return kept


def _by_hand() -> NoReturn:
    sys.exit(
        "This is a noema plugin: the noema program starts it, not a person. Try\n"
        f"  noema compare --task arithmetic --methods {shlex.quote('direct,' + os.path.dirname(os.path.abspath(sys.argv[0])))}"
    )


def _exit_with(parent: int) -> None:
    """Ends the process soon after its parent is gone; a broken stream alone does not tell that."""
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL_S)
    os._exit(1)


def _exit_late() -> None:
    """Ends the process although a method's threads still run."""
    time.sleep(_EXIT_GRACE_S)
    sys.stderr.flush()
    os._exit(0)
