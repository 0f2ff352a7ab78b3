"""Functions of a notebook or a script as methods."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Callable, Optional, Union, overload

from . import contract as c
from ._closure import Code, gather

Function = Callable[..., Any]


class FunctionMethod:
    """A function as a method. ``noema.method`` makes it; call it as the function that it is."""

    def __init__(
        self, function: Function, name: str = "", version: str = "1", answers: Sequence[str] = (), tools: Sequence[str] = ()
    ) -> None:
        self.__noema_function__ = function
        self.name = name or function.__name__.strip("_").replace("_", "-").lower()
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.name):
            raise ValueError(f"method {self.name!r}: a name has small letters, digits and -: give another with name=")
        self.version, self.answers, self.tools = version, tuple(answers), tuple(tools)
        self.summary = (inspect.getdoc(function) or "").split("\n")[0]
        self.options = _options(function)
        self.given: dict[str, Any] = {}
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        if inspect.iscoroutinefunction(function):
            self.solve: Function = self._solve_async
        else:
            self.solve = self._solve

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self.__noema_function__(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<noema method {self.label}>"

    @property
    def label(self) -> str:
        """How the method is written among others: ``tree?width=3``."""
        given = "&".join(f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in self.given.items())
        return self.name + ("@" + self.version if self.version != "1" else "") + ("?" + given if given else "")

    def but(self, **options: Any) -> FunctionMethod:
        """The same method with other values of its options, the function's keyword arguments."""
        known = [o.name for o in self.options]
        for name in options:
            if name not in known:
                raise TypeError(f"method {self.name!r} has no option {name!r}: it has {', '.join(known) or 'none'}")
        other = FunctionMethod(self.__noema_function__, self.name, self.version, self.answers, self.tools)
        other.given = {**self.given, **options}
        other.options = tuple(replace(o, default=other.given.get(o.name, o.default)) for o in other.options)
        return other

    def code(self) -> Code:
        """The source, and what it uses, as they are now. Raises TypeError where they cannot be found."""
        return gather(self.__noema_function__)

    def _solve(self, problem: c.Problem, host: Any) -> Any:
        return self.__noema_function__(problem, host, **problem.options)

    async def _solve_async(self, problem: c.Problem, host: Any) -> Any:
        return await self.__noema_function__(problem, host, **problem.options)


def _options(function: Function) -> tuple[c.Option, ...]:
    """The keyword arguments of a function, which have defaults, as options."""
    found: list[c.Option] = []
    positional = 0
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY:
            if p.default is p.empty:
                raise TypeError(f"method {function.__name__!r}: give its option {p.name!r} a default")
            found.append(c.Option(p.name, p.default))
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            positional += 1
    if positional != 2:
        raise TypeError(f"method {function.__name__!r}: write it as def {function.__name__}(problem, host, *, option=default)")
    return tuple(found)


@overload
def method(function: Function, /) -> FunctionMethod: ...
@overload
def method(
    *, name: str = "", version: str = "1", answers: Sequence[str] = (), tools: Sequence[str] = ()
) -> Callable[[Function], FunctionMethod]: ...
def method(
    function: Optional[Function] = None,
    /,
    *,
    name: str = "",
    version: str = "1",
    answers: Sequence[str] = (),
    tools: Sequence[str] = (),
) -> Union[FunctionMethod, Callable[[Function], FunctionMethod]]:
    """Makes a method of ``def mine(problem, host)`` or ``async def mine(problem, host)``.

    problem is a Problem, host a Host or, of an async function, an AsyncHost; it
    returns an Answer. Keyword arguments with defaults are the method's options.
    answers lists the kinds that it can answer ("number", "choice", …; none means
    all), tools the tools that it cannot do without.

    The function runs in this process, with its rights: nothing isolates it. Its
    source and what it uses are a part of the run's identity.
    """
    if function is None:
        return lambda f: FunctionMethod(f, name, version, answers, tools)
    return FunctionMethod(function, name, version, answers, tools)
