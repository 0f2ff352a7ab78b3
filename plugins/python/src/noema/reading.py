"""Reads answers in what a model wrote, as all of noema's methods do: the kernel reads.

In a trial the kernel that runs it is asked, and elsewhere the command noema. Neither call
costs anything, has a path, or is recorded.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import threading
from typing import Any, Optional

from . import contract as c
from ._asks import Read
from ._command import CommandError, binary
from ._scope import host
from .errors import Failed
from .host import Slot


def read_answer(text: str, spec: c.AnswerSpec, cut: bool = False) -> c.Answer:
    """The answer in a reply, in the form that spec wants: that of the last statement in it.

    A reply without one gives an answer without a value and the outcome "unparsed"; for a
    ranking the ranking 1..k with the outcome "defaulted". cut says that the reply was cut
    off at a token limit: ``reply.finish == "length"``.
    """
    ask, trial = Read(text, spec, cut), host()
    if trial is None:
        return by_command(ask)
    slot = Slot()
    trial._road.send(ask, 0, slot.done)
    slot.wait(None)
    if isinstance(slot.error, Failed) and str(slot.error) == "call host: unknown kind of call":
        raise Failed("read answer: the noema that runs this trial is older than this Python package: update it")
    if slot.error is not None:
        raise slot.error
    answer: c.Answer = slot.value
    return answer


def by_command(ask: Read) -> c.Answer:
    """The answer that the command noema reads."""
    if os.environ.get("NOEMA_PLUGIN"):
        raise Failed("read answer: a plugin reads in its trials alone: start the threads that read by host.map")
    got = _reader.ask({"text": ask.text, "cut": ask.cut, **vars(ask.spec)})
    if "error" in got:
        raise Failed(got["error"])
    return c.Answer(got["value"], got["outcome"], got["reason"])


class _Reader:
    """The command, started when it is first needed. It ends with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Optional[subprocess.Popen[bytes]] = None

    def ask(self, question: dict[str, Any]) -> dict[str, str]:
        """Sends one line, and returns the line that comes back."""
        line = json.dumps(question).encode() + b"\n"
        with self._lock:
            try:
                running = self._running = self._running or self._start()
                assert running.stdin and running.stdout
                with contextlib.suppress(BrokenPipeError):  # it says why it has ended
                    running.stdin.write(line)
                    running.stdin.flush()
                line = running.stdout.readline()
                answer: dict[str, str] = json.loads(line)
                return answer
            except BaseException as fault:  # of an interrupt, too: what is on its way is not the next one's answer
                self.end()
                if not isinstance(fault, (OSError, ValueError)):
                    raise
                said = fault if isinstance(fault, OSError) else line.decode(errors="replace").strip() or "it has ended"
                raise CommandError(f"read answer: {binary()} does not read: {said}", hint="update it, or name another by $NOEMA") from None

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [binary(), "read"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "NOEMA_PARENT": str(os.getpid())}, start_new_session=True,
        )

    def end(self) -> None:
        """Ends the command."""
        running, self._running = self._running, None
        if running is not None:
            running.kill()
            with contextlib.suppress(OSError), running:
                pass  # which closes its pipes and waits

    def forked(self) -> None:
        """Leaves the command to the process that this one is a copy of."""
        self._parents, self._running, self._lock = self._running, None, threading.Lock()


_reader = _Reader()
atexit.register(_reader.end)
os.register_at_fork(after_in_child=_reader.forked)
