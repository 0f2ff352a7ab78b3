"""What can go wrong in a trial, as the same kinds that the kernel knows.

Each kind crosses the boundary as what it is: a call that failed in the kernel
with "budget exhausted" raises BudgetExceeded here, and a solve that raises
BudgetExceeded, or anything ``from`` it, ends the trial with that error there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional


class Error(Exception):
    """Base of the failures that are no fault in the method's code."""

    code = 0


class Failed(Error):
    """The method could not say anything at all. Raise it with the reason."""


class BudgetExceeded(Error):
    """A limit on calls, tokens, cost or time is reached.

    Let it pass, or return ``answer.but("budget", reason)``.
    """

    code = 1


class ReplayMiss(Error):
    """A replay has no recorded answer to this call.

    Let it pass: an answer in its place would hide a gap in the record.
    """

    code = 2


class UnknownTool(Error):
    """The problem's environment has no such tool."""

    code = 3


class ProviderFailed(Error):
    """The model's provider failed for good, retries included."""

    code = 4


class DeadlineExceeded(Error):
    """A call or a trial took longer than it was given."""

    code = 6


class Cancelled(BaseException):
    """The trial is over and nobody waits for its answer.

    It is no Exception, so that ``except Exception`` does not keep a method
    running that was told to stop.
    """

    code = 5


_KINDS: tuple[type[BaseException], ...] = (
    Failed,
    BudgetExceeded,
    ReplayMiss,
    UnknownTool,
    ProviderFailed,
    Cancelled,
    DeadlineExceeded,
)

# PANIC is the code of an exception that nobody expected: a fault in the
# method's code. The kernel replaces the process.
PANIC = 7


def from_code(code: int, message: str) -> BaseException:
    """The exception for an error of the wire."""
    for kind in _KINDS:
        if getattr(kind, "code") == code:
            return kind(message)
    return Failed(message)


def to_code(error: BaseException) -> tuple[int, str]:
    """Code and text of an exception for the wire.

    The kind is that of the exception or of what it was raised ``from``, also
    inside a group. Anything else is a PANIC, with the place in the text.
    """
    import asyncio

    text = ""
    links = list(_chain(error))
    for i, e in enumerate(links):
        if isinstance(e, asyncio.CancelledError):
            e = Cancelled("cancelled")
        own = str(e) or type(e).__name__
        if not text.endswith(own):
            text = f"{text}: {own}" if text else own
        vague = type(e) is Failed and any(_known(later) for later in links[i + 1 :])
        if isinstance(e, (Error, Cancelled)) and not vague:
            return e.code, text
    return PANIC, "raised " + describe(error)


def describe(error: BaseException) -> str:
    """The exception in one line, with the place where it was raised."""
    text = type(error).__name__
    if str(error):
        text += ": " + " ".join(str(error).split())
    tb = error.__traceback__
    if tb is None:
        return text
    while tb.tb_next is not None:
        tb = tb.tb_next
    return f"{text} (at {tb.tb_frame.f_code.co_filename}:{tb.tb_lineno})"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, what it was raised from, and so on; of a group the most telling member."""
    current: Optional[BaseException] = error
    seen = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        members = getattr(current, "exceptions", None)
        if members:
            current = next((m for m in members if _known(m)), members[0])
            continue
        yield current
        current = current.__cause__


def _known(error: BaseException) -> bool:
    return any(isinstance(e, (Error, Cancelled)) for e in _chain(error))
