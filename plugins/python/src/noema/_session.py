"""One trial on the method's side of the boundary: frames, calls, cancellation."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import termios
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterator
from typing import Any, Callable, Optional

from . import contract as c
from ._asks import Ask, Done, Read, SeedGet, SeedPut
from ._solve import solve
from ._wire import M, clean, fill_request, from_answer, from_error, from_event, from_read, from_tool_call, to_problem, to_result
from .errors import PANIC, Cancelled, Failed, describe, to_code


# A message is closed to further frames when it holds this many.
_BATCH_BYTES = 256 << 10
_BATCH_FRAMES = 64

# This many frames may wait to be sent; who has more to say waits, too.
_QUEUE_FRAMES = 1024


class Outbox:
    """Frames on their way to the kernel. Those that wait travel together."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._frames: deque[bytes] = deque()
        self._closed = False
        self._idle = False  # the sender waits

    def put(self, frame: Any) -> bool:
        """Queues a frame; False if it will not be sent."""
        raw = frame.SerializeToString()
        with self._changed:
            while len(self._frames) >= _QUEUE_FRAMES and not self._closed:
                self._changed.wait()
            if self._closed:
                return False
            self._frames.append(raw)
            if self._idle:
                self._idle = False
                self._changed.notify_all()
        return True

    def close(self) -> None:
        """No more frames; those that are queued are sent."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def abort(self) -> None:
        """Nobody reads any more."""
        with self._changed:
            self._frames.clear()
        self.close()

    def messages(self) -> Iterator[bytes]:
        """The PluginMessages to send, until the outbox is closed and empty."""
        while True:
            with self._changed:
                while not self._frames and not self._closed:
                    self._idle = True
                    self._changed.wait()
                if not self._frames:
                    return
                full = len(self._frames) >= _QUEUE_FRAMES
                message = self._batch()
                if full:
                    self._changed.notify_all()
            yield message

    def _batch(self) -> bytes:
        """PluginMessage.frames is field 1: each frame follows a tag and its length."""
        parts: list[bytes] = []
        size = 0
        while self._frames and len(parts) < 3 * _BATCH_FRAMES:
            if parts and size + len(self._frames[0]) > _BATCH_BYTES:
                break
            frame = self._frames.popleft()
            parts += [b"\x0a", _varint(len(frame)), frame]
            size += len(frame)
        return b"".join(parts)


def _varint(n: int) -> bytes:
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


class Session:
    """The road of one trial's calls to the kernel. See host.Road."""

    def __init__(self, problem: c.Problem, told: Optional[set[str]] = None) -> None:
        """told, where it is given, are the faults whose traceback was printed: none is twice."""
        self.problem = problem
        self._told = told
        self.outbox = Outbox()
        self._lock = threading.Lock()
        self._last = 0
        self._pending: dict[int, Done] = {}
        self._over: Optional[BaseException] = None
        self._on_cancel: Optional[Callable[[], None]] = None

    @property
    def cancelled(self) -> bool:
        """Whether the trial was told to stop."""
        return self._over is not None

    def send(self, ask: Ask, scope: int, done: Done) -> int:
        """Asks the kernel; done is called once, from any thread, unless drop comes first."""
        frame = _call(ask)
        with self._lock:
            over = self._over
            self._last += 1
            number = self._last
            if over is None:
                self._pending[number] = done
        # The end of a build is told even when the trial is over: others wait for it.
        if over is None or isinstance(ask, SeedPut):
            frame.call.id, frame.call.scope = number, scope
            sent = self.outbox.put(frame)
            if over is None and not sent and self._take(number):
                done(None, Failed("call host: the trial is over"))
        if over is not None:
            done(None, type(over)(*over.args))
        return number

    def drop(self, number: int) -> None:
        """The call is no longer wanted."""
        if self._take(number):
            frame = M["PluginFrame"]()
            frame.cancel.id = number
            self.outbox.put(frame)

    def emit(self, event: c.Event) -> None:
        """Sends an event; one of a trial that is over is lost with it."""
        self.outbox.put(M["PluginFrame"](event=from_event(event)))

    def on_cancel(self, call: Optional[Callable[[], None]]) -> None:
        """Has call called when the trial is cancelled, at once if it is already."""
        with self._lock:
            self._on_cancel = call
            over = self._over
        if call and over is not None:
            call()

    def cancel(self, why: BaseException) -> None:
        """Ends the trial: every call under way or to come fails with why."""
        with self._lock:
            if self._over is not None:
                return
            self._over = why
            waiting, self._pending = self._pending, {}
            call = self._on_cancel
        for done in waiting.values():
            done(None, type(why)(*why.args))
        if call:
            call()

    def receive(self, frames: Any) -> None:
        """Handles frames from the kernel, in order."""
        for frame in frames:
            kind = frame.WhichOneof("frame")
            if kind == "result":
                done = self._take(frame.result.id)
                if done:
                    done(*to_result(frame.result))
            elif kind == "cancel":
                self.cancel(Cancelled("the trial is cancelled"))

    def finish(self, solve: Callable[[], c.Answer]) -> None:
        """Runs the method and sends what it came to."""
        frame = M["PluginFrame"]()
        try:
            answer = solve()
            if not isinstance(answer, c.Answer):
                raise TypeError(
                    f"solve returned {type(answer).__name__}: return a noema.Answer, such as Answer.text(…)"
                )
            frame.finish.answer.CopyFrom(from_answer(answer))
        except BaseException as error:
            report(error, self._told)
            frame.finish.error.CopyFrom(from_error(error))
        self.outbox.put(frame)
        self.outbox.close()

    def run(self, method: Any, description: c.Description, start: Any) -> None:
        """Runs the method on the problem of a start frame, and sends what it came to."""

        def answer() -> c.Answer:
            try:
                self.problem = to_problem(start, description)
            except ValueError as error:
                raise Failed(f"read problem: {error}") from None
            return solve(method, self, self.on_cancel)

        self.finish(answer)

    def listen(self, frames: Any, messages: Iterator[bytes]) -> None:
        """Takes the kernel's frames until the stream ends, and then tells the method so."""
        why: BaseException = Cancelled("the session is over")
        try:
            self.receive(frames)
            for raw in messages:
                self.receive(M["HostMessage"].FromString(raw).frames)
        except Exception as error:  # a broken stream, or a frame that makes no sense
            why = Failed(f"call host: {describe(error)}")
        self.cancel(why)

    def _take(self, number: int) -> Optional[Done]:
        with self._lock:
            return self._pending.pop(number, None)


def first(messages: Iterator[bytes]) -> tuple[Any, Any]:
    """The start frame of a trial, None if there is none, and the frames that came with it."""
    frames = list(M["HostMessage"].FromString(next(messages, b"")).frames)
    if not frames or frames[0].WhichOneof("frame") != "start":
        return None, []
    return frames[0].start, frames[1:]


def spawn(name: str, target: Any, *args: Any) -> None:
    """Starts a thread that does not hold the process."""
    threading.Thread(target=target, args=args, name=name, daemon=True).start()


def report(error: BaseException, told: Optional[set[str]] = None) -> None:
    """Writes the traceback of a fault in the method's code to stderr, from the method's own code on.

    Where told is given, a fault of the same kind at the same place is written once.
    """
    code, _ = to_code(error)
    if code != PANIC:
        return
    own = os.path.dirname(os.path.abspath(__file__))
    start = error.__traceback__
    while start is not None and os.path.dirname(start.tb_frame.f_code.co_filename) == own:
        start = start.tb_next
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f"{type(error).__qualname__} at {last[0].filename}:{last[0].lineno}" if last else repr(error)
    if told is not None:
        if place in told:
            return
        told.add(place)
    traceback.print_exception(type(error), error, start or error.__traceback__, file=sys.stderr)
    sys.stderr.flush()
    _drain(2)


def _drain(fd: int) -> None:
    """Waits a moment until the kernel has read what was written to a pipe.

    The kernel shows the last lines of stderr with a trial's error, and takes
    them when the error arrives.
    """
    with contextlib.suppress(OSError):
        for _ in range(100):
            waiting = fcntl.ioctl(fd, termios.FIONREAD, b"\0\0\0\0")
            if not any(waiting):
                return
            time.sleep(0.001)


def _call(ask: Ask) -> Any:
    frame = M["PluginFrame"]()
    if isinstance(ask, c.Request):
        fill_request(frame.call.complete, ask)
    elif isinstance(ask, c.ToolCall):
        frame.call.tool.CopyFrom(from_tool_call(ask))
    elif isinstance(ask, SeedGet):
        frame.call.seed_get.SetInParent()
        frame.call.seed_get.kind, frame.call.seed_get.content = clean(ask.kind), clean(ask.content)
    elif isinstance(ask, Read):
        frame.call.read.CopyFrom(from_read(ask))
    else:
        frame.call.seed_put.data = ask.data
        if ask.error is not None:
            frame.call.seed_put.error.CopyFrom(from_error(ask.error))
        frame.call.seed_put.SetInParent()
    return frame
