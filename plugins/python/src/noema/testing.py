"""Tests of methods: one trial without the kernel, and a score that a repository holds to.

One trial, with replies of the test::

    trial = testing.run(Ask(), noema.Problem("What is 2 + 2?"), lambda request: "4")
    assert trial.answer.value == "4"
    assert [c.path for c in trial.calls] == ["ask"]

A method that is not worse than on the main branch, from the store, which makes
no call::

    def test_not_worse():
        now, main = (
            noema.compare("questions.jsonl", [m], limit=200, cache="replay")
            for m in ("./my-method", testing.as_of("./my-method", "main"))
        )
        testing.not_worse(now, main, by=0.03)
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Callable, Optional, Union

from . import _command
from . import contract as c
from ._solve import description, solve
from ._asks import Ask, Done, Read, SeedGet, SeedPut
from .errors import Cancelled, Error, UnknownTool
from .reading import by_command
from .result import Result, pairs_of

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
        if isinstance(ask, Read):
            return by_command(ask)
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


def not_worse(result: Result, than: Union[Result, str] = "", method: str = "", by: float = 0.03) -> None:
    """Asserts that a method is not worse than another by as much as by, on the headline measure.

    method is by default the first of the run. than is another method of the run,
    by default the second; or another run that has the method with other code. The
    whole interval of the difference must lie above -by, also if every trial that failed
    had gone against the method: too few samples fail, and so do too many failures.
    """
    method = method or result.methods[0]
    comparison, own, other = result.comparison, method, than
    if isinstance(than, Result):
        comparison = _command.run(["compare", result.id, than.id], home=result.home)
        labels = [m["method"] for m in comparison["methods"]]
        own, other = (method if method in labels else f"{method} ({r.id})" for r in (result, than))
        if own == other:  # the code is the same
            return
    other = other or result.methods[1]
    for pair in pairs_of(comparison):
        low, high = pair.least, pair.most
        if {pair.a, pair.b} != {own, other}:
            continue
        if low is None or high is None:
            raise AssertionError(f"{own} beside {other}: no difference is known: {pair.verdict}")
        worst = low if pair.a == own else -high
        if worst <= -by:
            raise AssertionError(f"{own} may be worse than {other} by {-worst:.3f}, and {by} is allowed ({pair.n} samples): {pair.verdict}")
        return
    raise AssertionError(f"{own} and {other} are not compared: there are {', '.join(m['method'] for m in comparison['methods'])}")


def at_least(result: Result, method: str, score: float, metric: str = "") -> None:
    """Asserts that the mean of a measure, by default of the headline, is at least score."""
    have = result.score(method, metric)
    if have < score:
        raise AssertionError(f"{method} scores {have:.3f}, and {score} is asked for, in run {result.id}")


def as_of(folder: str, revision: str) -> str:
    """A method's folder, or file, as a git revision has it: its path, below a temporary folder of this name.

    Raises subprocess.CalledProcessError where git has no such thing. The path
    is the same for the same content, so that runs are found again.
    """
    at = Path(folder).resolve()
    tree = subprocess.check_output(["git", "rev-parse", f"{revision}:./{at.name}"], cwd=at.parent, text=True).strip()
    kept = Path(tempfile.gettempdir()) / f"noema-{tree[:16]}"
    if not (kept / at.name).exists():
        archive = subprocess.check_output(["git", "archive", "--format=tar", revision, at.name], cwd=at.parent)
        part = Path(tempfile.mkdtemp(prefix="noema-"))
        subprocess.run(["tar", "-x", "-C", str(part)], input=archive, check=True)
        shutil.rmtree(kept, ignore_errors=True)
        part.replace(kept)
    return str(kept / at.name)
