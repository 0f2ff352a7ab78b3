"""Runs a method without the kernel, for its own tests.

::

    trial = testing.run(Ask(), noema.Problem("What is 2 + 2?"), lambda request: "4")
    assert trial.answer.value == "4"
    assert [c.path for c in trial.calls] == ["ask"]
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Optional, Union

from . import contract as c
from ._server import description, solve
from ._session import Ask, Done, SeedGet, SeedPut
from .errors import Cancelled, Error, UnknownTool

Model = Callable[[c.Request], Union[str, c.Completion]]
Tools = Callable[[c.ToolCall], Union[str, c.ToolResult]]


@dataclass
class Trial:
    """What a method did, in the order of the paths, and what it concluded."""

    answer: Optional[c.Answer] = None
    error: Optional[BaseException] = None  # what solve raised instead, if it is no fault in its code
    calls: list[c.Request] = field(default_factory=list)
    tools: list[c.ToolCall] = field(default_factory=list)
    events: list[c.Event] = field(default_factory=list)
    seeds: dict[tuple[str, str], bytes] = field(default_factory=dict)


def run(
    method: Any,
    problem: c.Problem,
    model: Model,
    tools: Optional[Tools] = None,
    seeds: Optional[dict[tuple[str, str], bytes]] = None,
) -> Trial:
    """Solves problem with replies from model, which may raise a noema.Error.

    A call path that is used twice is an error: runs are compared by it.
    """
    problem = replace(problem, options=description(method).fill(problem.options))
    road = _Scripted(problem, model, tools, dict(seeds or {}))
    try:
        road.trial.answer = solve(method, road)
        if not isinstance(road.trial.answer, c.Answer):
            raise TypeError(f"solve returned {type(road.trial.answer).__name__}: return a noema.Answer")
    except (Error, Cancelled) as error:
        road.trial.error = error
    road.trial.calls.sort(key=lambda r: (r.path, r.draw))
    road.trial.tools.sort(key=lambda t: t.path)
    road.trial.events.sort(key=lambda e: e.path)
    return road.trial


class _Scripted:
    """A road that leads to functions."""

    cancelled = False

    def __init__(
        self, problem: c.Problem, model: Model, tools: Optional[Tools], seeds: dict[tuple[str, str], bytes]
    ) -> None:
        self.problem, self._model, self._tools = problem, model, tools
        self.trial = Trial(seeds=seeds)
        self._lock = threading.Lock()
        self._last = 0
        self._used: set[tuple[int, str, int]] = set()
        self._orders: dict[int, tuple[str, str]] = {}

    def send(self, ask: Ask, scope: int, done: Done) -> int:
        with self._lock:
            self._last += 1
            number = self._last
        try:
            value = self._answer(ask, scope, number)
        except (Exception, Cancelled) as error:
            done(None, error)
        else:
            done(value, None)
        return number

    def drop(self, number: int) -> None:
        """Nothing is under way: send answers at once."""

    def emit(self, event: c.Event) -> None:
        with self._lock:
            self.trial.events.append(event)

    def _answer(self, ask: Ask, scope: int, number: int) -> Any:
        if isinstance(ask, c.Request):
            self._note(self.trial.calls, ask, (scope, ask.path, ask.draw))
            reply = self._model(ask)
            return c.Completion(reply) if isinstance(reply, str) else reply
        if isinstance(ask, c.ToolCall):
            self._note(self.trial.tools, ask, (scope, ask.path, -1))
            if self._tools is None:
                raise UnknownTool(f"call tool {ask.name!r}: the trial has no tools")
            result = self._tools(ask)
            return c.ToolResult(result) if isinstance(result, str) else result
        with self._lock:
            if isinstance(ask, SeedGet):
                self._orders[number] = (ask.kind, ask.content)
                return self.trial.seeds.get((ask.kind, ask.content))
            if isinstance(ask, SeedPut) and ask.error is None:
                self.trial.seeds[self._orders[scope]] = ask.data
            return ask.data

    def _note(self, record: list[Any], ask: Any, place: tuple[int, str, int]) -> None:
        with self._lock:
            if place in self._used:
                raise ValueError(
                    f"the call path {ask.path!r}, draw {max(place[2], 0)}, is used twice: give each call its own"
                )
            self._used.add(place)
            record.append(ask)
