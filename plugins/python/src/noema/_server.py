"""The plugin's process: how the kernel finds it, asks it, and ends it."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
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
from ._session import Session
from ._wire import MAX_MESSAGE, SERVICE, M, from_description, to_problem
from .aio import AsyncHost
from .errors import Cancelled, Failed, describe
from .host import Host, Road

PROTOCOL_VERSION = 1
_COOKIE = ("NOEMA_PLUGIN", "method")
_PARENT_POLL_S = 0.2
_EXIT_GRACE_S = 1.0
_MAX_TRIALS = 4096  # at once; a thread is started when a trial needs it

_EMPTY = b""
_SERVING = b"\x08\x01"  # grpc.health.v1.HealthCheckResponse{status: SERVING}


def description(method: Any) -> c.Description:
    """What a method says of itself: its describe(), or its attributes."""
    if hasattr(method, "describe"):
        d = method.describe()
        if not isinstance(d, c.Description):
            raise TypeError(f"describe returned {type(d).__name__}: return a noema.Description")
        return d
    return c.Description(
        name=str(getattr(method, "name", "")),
        version=str(getattr(method, "version", "")),
        prompt_version=str(getattr(method, "prompt_version", "")),
        summary=str(getattr(method, "summary", "")),
        answers=tuple(getattr(method, "answers", ())),
        tools=tuple(getattr(method, "tools", ())),
        options=tuple(getattr(method, "options", ())),
    )


def solve(method: Any, road: Road, on_cancel: Any = None) -> c.Answer:
    """Runs a method's solve, of either kind, on one problem."""
    if not inspect.iscoroutinefunction(method.solve):
        answer: c.Answer = method.solve(road.problem, Host(road))
        return answer
    return asyncio.run(_solve_async(method, road, on_cancel))


async def _solve_async(method: Any, road: Road, on_cancel: Any) -> c.Answer:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended
            loop.call_soon_threadsafe(task.cancel)  # type: ignore[union-attr]

    if on_cancel:
        on_cancel(stop)
    try:
        answer: c.Answer = await method.solve(road.problem, AsyncHost(road))
        return answer
    finally:
        if on_cancel:
            on_cancel(None)


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
        frames = list(M["HostMessage"].FromString(next(messages, b"")).frames)
        if not frames or frames[0].WhichOneof("frame") != "start":
            ctx.abort(grpc.StatusCode.INVALID_ARGUMENT, "open session: the first frame is not start")
        session = Session(c.Problem(query=""))
        if not ctx.add_callback(lambda: _gone(session)):
            return
        _thread("noema-solve", session.finish, lambda: self._solve(session, frames[0].start))
        _thread("noema-receive", _receive, session, frames[1:], messages)
        yield from session.outbox.messages()

    def _solve(self, session: Session, start: Any) -> c.Answer:
        try:
            session.problem = to_problem(start, self._description)
        except ValueError as error:
            raise Failed(f"read problem: {error}") from None
        return solve(self._method, session, session.on_cancel)


def _handler(service: str, **methods: Any) -> Any:
    return grpc.method_handlers_generic_handler(service, methods)


def _receive(session: Session, frames: Any, messages: Iterator[bytes]) -> None:
    """Hands the kernel's frames to the session until the stream ends, and then tells it so."""
    why: BaseException = Cancelled("the session is over")
    try:
        session.receive(frames)
        for raw in messages:
            session.receive(M["HostMessage"].FromString(raw).frames)
    except Exception as error:  # a broken stream, or a frame that makes no sense
        why = Failed(f"call host: {describe(error)}")
    session.cancel(why)


def _gone(session: Session) -> None:
    session.cancel(Cancelled("the session is over"))
    session.outbox.abort()


def _thread(name: str, target: Any, *args: Any) -> None:
    threading.Thread(target=target, args=args, name=name, daemon=True).start()


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
    _thread("noema-parent", _exit_with, parent)
    address = os.path.join(tempfile.mkdtemp(prefix="py", dir=os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or None), "s")
    server = _start(service, address)
    os.write(stdout, f"1|{PROTOCOL_VERSION}|unix|{address}|grpc\n".encode())
    try:
        service.ended.wait()
        _thread("noema-exit", _exit_late)
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
