"""What a method can reach: models, tools, the store of method seeds, the trace.

Host is what a plain ``solve`` gets: calls wait. AsyncHost (module aio) is what
an ``async def solve`` gets. Both may be used from several threads or tasks at
once.

Every call has a path, its logical place in the trial, by which runs are
compared: the same call must have the same path in every run. A path that is
not given is the next number of the place where the code runs, which is stable
as long as that code makes its calls one after another. Work that runs at once
goes through map, gather, complete_many or draws, which number it.
"""

from __future__ import annotations

import contextvars
import random
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Optional,
    Protocol,
    TypeVar,
    Union,
)

from . import contract as c
from ._scope import Scope, current, within
from ._asks import Ask, Done, SeedGet, SeedPut
from .errors import Cancelled, DeadlineExceeded, Failed
from .jsontext import JSON

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
R = TypeVar("R")

# This many calls of one gather are under way at once; the kernel works on no more.
WINDOW = 256

# MAX_LOGPROBS is the most that providers report at each place of a reply.
MAX_LOGPROBS = 20


class Road(Protocol):
    """How a host's calls get to the kernel, or to what stands in for it."""

    problem: c.Problem

    @property
    def cancelled(self) -> bool:
        """Whether the trial was told to stop."""

    def send(self, ask: Ask, scope: int, done: Done) -> int:
        """Asks; done gets a value or an error, once, from any thread. Returns the call's number."""

    def drop(self, number: int) -> None:
        """The call is no longer wanted."""

    def emit(self, event: c.Event) -> None:
        """Sends an event."""


class BaseHost:
    """What both kinds of host have."""

    def __init__(self, road: Road) -> None:
        self._road = road
        seed = road.problem.seed
        self._root = Scope("", str(seed), seed, 0)

    @property
    def problem(self) -> c.Problem:
        """The trial's problem."""
        return self._road.problem

    @property
    def cancelled(self) -> bool:
        """Whether the trial is over. Long computations ask now and then, and stop."""
        return self._road.cancelled

    @property
    def rng(self) -> random.Random:
        """Random numbers made of the trial's seed and the place where the code runs."""
        return self._scope.rng

    @property
    def _scope(self) -> Scope:
        return current(self, self._root)

    def emit(
        self,
        kind: Union[str, c.Event],
        text: str = "",
        *,
        path: Optional[str] = None,
        phase: str = "",
        data: Optional[JSON] = None,
        level: int = 1,
    ) -> None:
        """Notes that something happened. Without a path it is about the place where the code runs."""
        if isinstance(kind, c.Event):
            self._road.emit(kind)
            return
        scope = self._scope
        where = scope.place if path is None else scope.prefix + path
        self._road.emit(c.Event(kind, text, where, phase or where.split("/")[0], data, level))

    def request(
        self,
        prompt: c.Prompt,
        *,
        path: Optional[str] = None,
        schema: Optional[JSON] = None,
        schema_name: str = "reply",
        temperature: float = 0.0,
        top_p: float = 0.0,
        top_k: int = 0,
        max_tokens: int = 0,
        stop: Sequence[str] = (),
        seed: Optional[int] = None,
        logprobs: int = 0,
        tools: Sequence[c.ToolSpec] = (),
        draw: int = 0,
    ) -> c.Request:
        """A model call that is not yet made.

        schema, a JSON Schema, binds the reply's form. logprobs, 1 to 20, asks
        for the log probability of each token of the reply and of as many of
        the likeliest ones at its place; see Completion.logprobs.
        """
        if not 0 <= logprobs <= MAX_LOGPROBS:
            raise ValueError(f"logprobs={logprobs}: give 1 to {MAX_LOGPROBS}, or 0 for none")
        scope = self._scope
        own = scope.seed if seed is None else seed
        sampling = c.Sampling(temperature, top_p, top_k, max_tokens, tuple(stop), own, logprobs)
        turns = c.conversation(prompt)
        return c.Request(turns, sampling, schema, schema_name, tuple(tools), draw, scope.path(path))

    def _many(self, prompts: Iterable[c.Prompt], path: Optional[str], options: c.CallOptions) -> list[c.Request]:
        place = self._scope.path(path, "m")
        with within(self, Scope(place + "/", "", self._scope.seed, self._scope.build)):
            return [self.request(p, path=str(i), **options) for i, p in enumerate(prompts, 1)]

    def _draws(self, prompt: c.Prompt, n: int, path: Optional[str], options: c.CallOptions) -> list[c.Request]:
        name = path or self._scope.path(None)[len(self._scope.prefix) :]
        return [self.request(prompt, path=name, draw=i, **options) for i in range(n)]

    def _tool(self, name: str, arguments: Mapping[str, Any], path: Optional[str]) -> c.ToolCall:
        return c.ToolCall(name, dict(arguments), "", self._scope.path(path, "t"))

    def _building(self, kind: str, content: str, number: int) -> Scope:
        # Whoever builds first builds for all: nothing of this trial may enter.
        return Scope("", f"{kind}\n{content}", 0, number)


class Host(BaseHost):
    """What a plain ``solve`` can reach."""

    def complete(
        self,
        prompt: c.Prompt,
        *,
        path: Optional[str] = None,
        draw: int = 0,
        timeout: Optional[float] = None,
        **options: Unpack[c.CallOptions],
    ) -> c.Completion:
        """Asks the model. The options are those of request; timeout is in seconds."""
        return self.call(self.request(prompt, path=path, draw=draw, **options), timeout=timeout)

    def call(self, request: c.Request, *, timeout: Optional[float] = None) -> c.Completion:
        """Makes a model call."""
        completion: c.Completion = self._ask(request, self._scope.build, timeout)[0]
        return completion

    def gather(self, requests: Iterable[c.Request]) -> list[c.Completion]:
        """Makes many model calls at once; the completions are in the order of the requests.

        If some fail, all are waited for and the first error, in that order, is raised.
        """
        scope, slots = self._scope.build, list[Slot]()
        for i, request in enumerate(list(requests)):
            if i >= WINDOW:
                slots[i - WINDOW].wait(None)
            slots.append(Slot())
            self._road.send(request, scope, slots[i].done)
        for slot in slots:
            slot.wait(None)
        for slot in slots:
            if slot.error is not None:
                raise slot.error
        return [slot.value for slot in slots]

    def complete_many(
        self, prompts: Iterable[c.Prompt], path: Optional[str] = None, **options: Unpack[c.CallOptions]
    ) -> list[c.Completion]:
        """Asks the model many things at once, under the paths path/1, path/2, …"""
        return self.gather(self._many(prompts, path, options))

    def draws(
        self, prompt: c.Prompt, n: int, path: Optional[str] = None, **options: Unpack[c.CallOptions]
    ) -> list[c.Completion]:
        """Asks the model the same thing n times: one path, draws 0 to n-1. Give a temperature above 0."""
        return self.gather(self._draws(prompt, n, path, options))

    def call_tool(
        self, name: str, arguments: Mapping[str, Any], *, path: Optional[str] = None, timeout: Optional[float] = None
    ) -> c.ToolResult:
        """Runs one of the problem's tools: ``host.call_tool("add", {"a": 1, "b": 2})``."""
        return self.use(self._tool(name, arguments, path), timeout=timeout)

    def use(self, call: c.ToolCall, *, timeout: Optional[float] = None) -> c.ToolResult:
        """Runs a tool call, such as one that a model asked for."""
        result: c.ToolResult = self._ask(call, self._scope.build, timeout)[0]
        return result

    def seed(self, kind: str, build: Callable[[], Union[bytes, str]], content: str = "") -> bytes:
        """The method seed that was built of content, or builds it and keeps it for all trials.

        Calls that build makes belong to the run, not to this trial; paths,
        random numbers and sampling seeds within it do not depend on the trial.
        """
        data, number = self._ask(SeedGet(kind, content), self._scope.build, None)
        if data is not None:
            return bytes(data)
        put = SeedPut(b"", None)
        try:
            with within(self, self._building(kind, content, number)):
                put.data = as_bytes(build())
        except BaseException as error:
            self._road.send(SeedPut(b"", error), number, lambda value, error: None)
            raise
        return bytes(self._ask(put, number, None)[0])

    def map(
        self, function: Callable[[T], R], items: Iterable[T], path: Optional[str] = None, limit: int = 64
    ) -> list[R]:
        """Calls function for each item on up to limit threads; the results are in order.

        Paths within are below path/1, path/2, … All are waited for; then the
        first error, in the order of the items, is raised.
        """
        work, place = list(items), self._scope.path(path, "m")
        if not work:
            return []
        scope = self._scope

        def one(i: int) -> R:
            with within(self, scope.below(f"{place}/{i + 1}")):
                return function(work[i])

        with ThreadPoolExecutor(max(1, min(limit, len(work)))) as pool:
            futures = [pool.submit(contextvars.copy_context().run, one, i) for i in range(len(work))]
        errors = [e for e in (f.exception() for f in futures) if e is not None]
        if errors:
            raise next((e for e in errors if isinstance(e, Cancelled)), errors[0])
        return [f.result() for f in futures]

    def _ask(self, ask: Ask, scope: int, timeout: Optional[float]) -> tuple[Any, int]:
        """What a call came to, and its number."""
        slot = Slot()
        number = self._road.send(ask, scope, slot.done)
        if not slot.wait(timeout):
            self._road.drop(number)
            raise DeadlineExceeded(f"the call took longer than {timeout} s")
        if slot.error is not None:
            raise slot.error
        return slot.value, number


class Slot:
    """Waits for one result; cheaper than an Event, of which a trial would make thousands."""

    __slots__ = ("_ready", "value", "error")

    def __init__(self) -> None:
        self._ready = threading.Lock()
        self._ready.acquire()
        self.value: Any = None
        self.error: Optional[BaseException] = None

    def done(self, value: Any, error: Optional[BaseException]) -> None:
        self.value, self.error = value, error
        self._ready.release()

    def wait(self, timeout: Optional[float]) -> bool:
        """Whether the result is there; it may be asked again."""
        there = self._ready.acquire(timeout=-1 if timeout is None else max(0.0, timeout))
        if there:
            self._ready.release()
        return there


def as_bytes(data: Union[bytes, str]) -> bytes:
    """What build returned, as it is stored."""
    if isinstance(data, str):
        return data.encode()
    if not isinstance(data, (bytes, bytearray)):
        raise Failed(f"build seed: build returned {type(data).__name__}: return bytes or str")
    return bytes(data)
