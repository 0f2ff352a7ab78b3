"""One trial on the method's side of the boundary: frames, calls, cancellation."""

from __future__ import annotations

import sys
import threading
import traceback
from collections import deque
from typing import Any, Callable, Deque, Dict, Iterator, Optional, Union

from . import contract as c
from ._wire import M, from_answer, from_error, from_event, from_request, from_tool_call, to_result
from .errors import PANIC, Cancelled, Failed, to_code


class SeedGet:
    """Asks for a method seed. The answer is the seed, or None: build it."""

    def __init__(self, kind: str, content: str) -> None:
        self.kind, self.content = kind, content


class SeedPut:
    """Delivers a seed, or says why there is none."""

    def __init__(self, data: bytes, error: Optional[BaseException]) -> None:
        self.data, self.error = data, error


Ask = Union[c.Request, c.ToolCall, SeedGet, SeedPut]
Done = Callable[[Any, Optional[BaseException]], None]

# A message is closed to further frames when it holds this many.
_BATCH_BYTES = 256 << 10
_BATCH_FRAMES = 64

# This many frames may wait to be sent; who has more to say waits, too.
_QUEUE_FRAMES = 1024


class Outbox:
    """Frames on their way to the kernel. Those that wait travel together."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._frames: Deque[bytes] = deque()
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
        parts, size = [], 0
        while self._frames and len(parts) < 3 * _BATCH_FRAMES and (not size or size < _BATCH_BYTES):
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

    def __init__(self, problem: c.Problem) -> None:
        self.problem = problem
        self.outbox = Outbox()
        self._lock = threading.Lock()
        self._last = 0
        self._pending: Dict[int, Done] = {}
        self._over: Optional[BaseException] = None
        self._on_cancel: Optional[Callable[[], None]] = None

    @property
    def cancelled(self) -> bool:
        """Whether the trial was told to stop."""
        return self._over is not None

    def send(self, ask: Ask, scope: int, done: Done) -> int:
        """Asks the kernel; done is called once, from any thread, unless drop comes first."""
        what = _call(ask)
        with self._lock:
            over = self._over
            self._last += 1
            number = self._last
            # The end of a build is told even when the trial has ended: others wait for it.
            if over is None or isinstance(ask, SeedPut):
                self._pending[number] = done
        what.call.id, what.call.scope = number, scope
        if over is not None and not isinstance(ask, SeedPut):
            done(None, type(over)(*over.args))
        elif not self.outbox.put(what) and self._take(number):
            done(None, Failed("call host: the trial is over"))
        elif self._over is not None and isinstance(ask, SeedPut) and self._take(number):
            done(None, type(self._over)(*self._over.args))
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
                raise TypeError(f"solve returned {type(answer).__name__}: return a noema.Answer, such as Answer.text(…)")
            frame.finish.answer.CopyFrom(from_answer(answer))
        except BaseException as error:
            report(error)
            frame.finish.error.CopyFrom(from_error(error))
        self.outbox.put(frame)
        self.outbox.close()

    def _take(self, number: int) -> Optional[Done]:
        with self._lock:
            return self._pending.pop(number, None)


def report(error: BaseException) -> None:
    """Writes the traceback of a fault in the method's code to stderr."""
    code, _ = to_code(error)
    if code == PANIC:
        traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
        sys.stderr.flush()


def _call(ask: Ask) -> Any:
    frame = M["PluginFrame"]()
    if isinstance(ask, c.Request):
        frame.call.complete.CopyFrom(from_request(ask))
    elif isinstance(ask, c.ToolCall):
        frame.call.tool.CopyFrom(from_tool_call(ask))
    elif isinstance(ask, SeedGet):
        frame.call.seed_get.kind, frame.call.seed_get.content = ask.kind, ask.content
        frame.call.seed_get.SetInParent()
    else:
        frame.call.seed_put.data = ask.data
        if ask.error is not None:
            frame.call.seed_put.error.CopyFrom(from_error(ask.error))
        frame.call.seed_put.SetInParent()
    return frame


