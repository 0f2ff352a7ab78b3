"""What a method asks of the kernel, whichever way that goes."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Union

from . import contract as c


class SeedGet:
    """Asks for a method seed. The answer is the seed, or None: build it."""

    def __init__(self, kind: str, content: str) -> None:
        self.kind, self.content = kind, content


class SeedPut:
    """Delivers a seed, or says why there is none."""

    def __init__(self, data: bytes, error: Optional[BaseException]) -> None:
        self.data, self.error = data, error


class Read(NamedTuple):
    """Asks which answer a reply holds."""

    text: str
    spec: c.AnswerSpec
    cut: bool  # the reply was cut off at a token limit


Ask = Union[c.Request, c.ToolCall, SeedGet, SeedPut, Read]
Done = Callable[[Any, Optional[BaseException]], None]
