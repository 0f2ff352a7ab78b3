"""Where in a trial code runs: what its call paths begin with, and its random numbers.

Code that runs at once with other code gets a scope of its own, so that paths
and random numbers do not depend on who comes first.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Optional


class Scope:
    """One place in a trial."""

    def __init__(self, prefix: str, origin: str, seed: int, build: int) -> None:
        self.prefix = prefix  # empty, or ends in "/"
        self.origin = origin  # what random numbers are drawn from, beside the prefix
        self.seed = seed  # of the calls' sampling
        self.build = build  # the seed_get that this code serves; 0 for the trial itself
        self._count = itertools.count(1)
        self._rng: Optional[random.Random] = None

    def path(self, given: Optional[str], letter: str = "c") -> str:
        """The full path: what is given, or the next number."""
        return self.prefix + (given or f"{letter}{next(self._count)}")

    @property
    def place(self) -> str:
        """The path of this scope itself."""
        return self.prefix.rstrip("/")

    @property
    def rng(self) -> random.Random:
        """Random numbers that depend on the trial's seed and this place alone."""
        if self._rng is None:
            self._rng = random.Random(f"{self.origin}\n{self.prefix}")
        return self._rng

    def below(self, path: str) -> Scope:
        """The scope of one of several pieces of work."""
        return Scope(path + "/", self.origin, self.seed, self.build)


# _CURRENT holds the host that set it, too: a scope is of no use to another.
_CURRENT: ContextVar[Optional[tuple[object, Scope]]] = ContextVar("noema_scope", default=None)


def current(host: object, root: Scope) -> Scope:
    """The scope of the running code, or root."""
    held = _CURRENT.get()
    return held[1] if held is not None and held[0] is host else root


def host() -> Any:
    """The host of the trial in which the code runs; None outside of trials."""
    held = _CURRENT.get()
    return None if held is None else held[0]


@contextlib.contextmanager
def within(host: object, scope: Scope) -> Iterator[Scope]:
    """Runs the body in scope."""
    token = _CURRENT.set((host, scope))
    try:
        yield scope
    finally:
        _CURRENT.reset(token)
