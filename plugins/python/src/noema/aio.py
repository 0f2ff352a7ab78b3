"""The host of an ``async def solve``: the same calls, to be awaited."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Coroutine, Iterable, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Optional,
    TypeVar,
    Union,
)

from . import contract as c
from ._scope import within
from ._asks import Ask, SeedGet, SeedPut
from .errors import DeadlineExceeded
from .host import WINDOW, BaseHost, Road, as_bytes

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
R = TypeVar("R")


class AsyncHost(BaseHost):
    """What an ``async def solve`` can reach."""

    def __init__(self, road: Road) -> None:
        super().__init__(road)
        self._loop = asyncio.get_running_loop()
        self._window = asyncio.Semaphore(WINDOW)
        self._arrived: deque[tuple[asyncio.Future[Any], Any, Optional[BaseException]]] = deque()

    async def complete(
        self,
        prompt: c.Prompt,
        *,
        path: Optional[str] = None,
        draw: int = 0,
        timeout: Optional[float] = None,
        **options: Unpack[c.CallOptions],
    ) -> c.Completion:
        """Asks the model. The options are those of request; timeout is in seconds."""
        return await self.call(self.request(prompt, path=path, draw=draw, **options), timeout=timeout)

    async def call(self, request: c.Request, *, timeout: Optional[float] = None) -> c.Completion:
        """Makes a model call."""
        completion: c.Completion = (await self._ask(request, self._scope.build, timeout))[0]
        return completion

    async def gather(self, requests: Iterable[c.Request]) -> list[c.Completion]:
        """Makes many model calls at once; the completions are in the order of the requests.

        If some fail, all are waited for and the first error, in that order, is raised.
        """
        return await self._all([self._within_window(r) for r in requests])

    async def complete_many(
        self, prompts: Iterable[c.Prompt], path: Optional[str] = None, **options: Unpack[c.CallOptions]
    ) -> list[c.Completion]:
        """Asks the model many things at once, under the paths path/1, path/2, …"""
        return await self.gather(self._many(prompts, path, options))

    async def draws(
        self, prompt: c.Prompt, n: int, path: Optional[str] = None, **options: Unpack[c.CallOptions]
    ) -> list[c.Completion]:
        """Asks the model the same thing n times: one path, draws 0 to n-1. Give a temperature above 0."""
        return await self.gather(self._draws(prompt, n, path, options))

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any], *, path: Optional[str] = None, timeout: Optional[float] = None
    ) -> c.ToolResult:
        """Runs one of the problem's tools: ``await host.call_tool("add", {"a": 1, "b": 2})``."""
        return await self.use(self._tool(name, arguments, path), timeout=timeout)

    async def use(self, call: c.ToolCall, *, timeout: Optional[float] = None) -> c.ToolResult:
        """Runs a tool call, such as one that a model asked for."""
        result: c.ToolResult = (await self._ask(call, self._scope.build, timeout))[0]
        return result

    async def seed(self, kind: str, build: Callable[[], Awaitable[Union[bytes, str]]], content: str = "") -> bytes:
        """The method seed that was built of content, or builds it. See Host.seed."""
        data, number = await self._ask(SeedGet(kind, content), self._scope.build, None)
        if data is not None:
            return bytes(data)
        try:
            with within(self, self._building(kind, content, number)):
                built = as_bytes(await build())
        except BaseException as error:
            self._road.send(SeedPut(b"", error), number, lambda value, error: None)
            raise
        return bytes((await self._ask(SeedPut(built, None), number, None))[0])

    async def map(
        self, function: Callable[[T], Awaitable[R]], items: Iterable[T], path: Optional[str] = None, limit: int = WINDOW
    ) -> list[R]:
        """Calls function for each item, up to limit at once; the results are in order. See Host.map."""
        scope, place, window = self._scope, self._scope.path(path, "m"), asyncio.Semaphore(limit)

        async def one(i: int, item: T) -> R:
            async with window:
                with within(self, scope.below(f"{place}/{i}")):
                    return await function(item)

        return await self._all([one(i, item) for i, item in enumerate(items, 1)])

    async def _within_window(self, request: c.Request) -> c.Completion:
        async with self._window:
            return await self.call(request)

    async def _all(self, work: list[Coroutine[Any, Any, R]]) -> list[R]:
        tasks = [asyncio.ensure_future(w) for w in work]
        try:
            results = await asyncio.gather(*tasks, return_exceptions=True)
        except asyncio.CancelledError:
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        for r in results:
            if isinstance(r, BaseException):
                raise r
        return list(results)  # type: ignore[arg-type]

    async def _ask(self, ask: Ask, scope: int, timeout: Optional[float]) -> tuple[Any, int]:
        """What a call came to, and its number."""
        future: asyncio.Future[Any] = self._loop.create_future()
        number = self._road.send(ask, scope, lambda value, error: self._arrive(future, value, error))
        try:
            if timeout is None:
                return await future, number
            return await asyncio.wait_for(future, timeout), number
        except asyncio.TimeoutError:
            self._road.drop(number)
            raise DeadlineExceeded(f"the call took longer than {timeout} s") from None
        except asyncio.CancelledError:
            self._road.drop(number)
            raise

    def _arrive(self, future: asyncio.Future[Any], value: Any, error: Optional[BaseException]) -> None:
        # Waking the loop costs more than a result: those that come together wake it once.
        self._arrived.append((future, value, error))
        if len(self._arrived) == 1:
            try:
                self._loop.call_soon_threadsafe(self._deliver)
            except RuntimeError:  # the loop is closed: nobody waits
                self._arrived.clear()

    def _deliver(self) -> None:
        while self._arrived:
            future, value, error = self._arrived[0]
            if not future.done():
                if error is not None:
                    future.set_exception(error)
                else:
                    future.set_result(value)
            self._arrived.popleft()
