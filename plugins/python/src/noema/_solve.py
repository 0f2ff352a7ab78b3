"""Runs a method of any form on a problem."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from typing import Any

from . import contract as c
from ._scope import within
from .aio import AsyncHost
from .host import Host, Road


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
        host = Host(road)
        with within(host, host._scope):
            answer: c.Answer = method.solve(road.problem, host)
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
        host = AsyncHost(road)
        with within(host, host._scope):
            answer: c.Answer = await method.solve(road.problem, host)
        return answer
    finally:
        if on_cancel:
            on_cancel(None)
