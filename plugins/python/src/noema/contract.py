"""The nouns that a method and the kernel share.

They say the same as the Go package noema/methods, whose comments are the
longer ones. A Problem has no word for the target: a method cannot see the
answer that it is scored against.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple, Optional, Protocol, TypedDict, Union

from .jsontext import JSON, encode, find_json

ANSWERED = "answered"
UNPARSED = "unparsed"


@dataclass(frozen=True)
class AnswerSpec:
    """Which answer a problem wants."""

    kind: str = "text"  # or ranking, choice, number, set, fields
    n: int = 0  # ranking: how many items there are
    k: int = 0  # ranking: how many of them to name, at most
    labels: tuple[str, ...] = ()  # choice: what may be chosen
    names: tuple[str, ...] = ()  # fields: the field names
    texts: tuple[str, ...] = ()  # choice: the options' texts, in the order of labels
    decimal: str = ""  # "comma" where replies write 1.500,25
    percent: str = ""  # "fraction" where 25 % is 0.25


@dataclass(frozen=True)
class ToolSpec:
    """A tool that call_tool can run, or that a model may ask for."""

    name: str
    description: str = ""
    parameters: Optional[JSON] = None  # JSON Schema of the arguments object
    result: Optional[JSON] = None  # JSON Schema of the result
    pure: bool = False  # same arguments, same result, no effect


@dataclass(frozen=True)
class Problem:
    """All that a method may see of a sample."""

    query: str
    id: str = ""  # for events and errors
    context_json: str = ""  # structured data as JSON, as the task wrote it; empty if none
    tools: tuple[ToolSpec, ...] = ()
    answer: AnswerSpec = field(default_factory=AnswerSpec)
    seed: int = 0  # the only source of randomness; host.rng is made of it
    options: Mapping[str, Any] = field(default_factory=dict)  # the method's, defaults filled in

    @cached_property
    def context(self) -> JSON:
        """The structured data, decoded; None if there is none."""
        return json.loads(self.context_json) if self.context_json else None


@dataclass(frozen=True)
class ToolCall:
    """One run of a tool that is wanted."""

    name: str
    arguments: JSON = None
    id: str = ""  # the model's id for the call
    path: str = ""


@dataclass(frozen=True)
class ToolResult:
    """What a tool returned."""

    content: str
    is_error: bool = False


@dataclass(frozen=True)
class Message:
    """One turn of a conversation; role is system, user, assistant or tool."""

    role: str
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""  # of a tool turn: the call that it answers


def system(content: str) -> Message:
    """A turn of instructions."""
    return Message("system", content)


def user(content: str) -> Message:
    """A turn of the user."""
    return Message("user", content)


def assistant(content: str, tool_calls: Sequence[ToolCall] = ()) -> Message:
    """A turn of the model."""
    return Message("assistant", content, tuple(tool_calls))


Prompt = Union[str, Message, Mapping[str, Any], Sequence[Union[Message, Mapping[str, Any]]]]


def conversation(prompt: Prompt) -> tuple[Message, ...]:
    """The turns of a prompt: one text, one turn, or several as Message or {"role", "content"}."""
    if isinstance(prompt, str):
        return (user(prompt),)
    if isinstance(prompt, (Message, Mapping)):
        prompt = [prompt]
    return tuple(m if isinstance(m, Message) else Message(**m) for m in prompt)


class Sampling(NamedTuple):
    """The decoding parameters; zeros mean greedy decoding and the provider's limits."""

    temperature: float = 0.0
    top_p: float = 0.0
    top_k: int = 0
    max_tokens: int = 0
    stop: tuple[str, ...] = ()
    seed: int = 0
    logprobs: int = 0  # likeliest tokens to report at each place of the reply, 1 to 20


@dataclass(frozen=True)
class Request:
    """One model call. Make it with host.request, which fills in path and seed."""

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    schema: Optional[JSON] = None  # JSON Schema of the reply
    schema_name: str = "reply"
    tools: tuple[ToolSpec, ...] = ()
    draw: int = 0  # which repeat of an otherwise identical request
    path: str = ""  # the call's place in the trial, such as "P3/c2"


class CallOptions(TypedDict, total=False):
    """The options of a model call, beside prompt, path and draw. See Request and Sampling."""

    schema: Optional[JSON]
    schema_name: str
    temperature: float
    top_p: float
    top_k: int
    max_tokens: int
    stop: Sequence[str]
    seed: Optional[int]
    logprobs: int
    tools: Sequence[ToolSpec]


class Usage(NamedTuple):
    """What calls consumed. What is unknown is counted in unpriced and unmetered."""

    calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_nano_usd: int = 0
    latency_ns: int = 0
    unpriced: int = 0
    unmetered: int = 0
    cached_tokens: int = 0  # of input_tokens: read from the provider's cache
    cache_write_tokens: int = 0  # of input_tokens: written to it
    reasoning_tokens: int = 0  # of output_tokens: thoughts


class TokenLogprob(NamedTuple):
    """One token of a reply and the natural logarithm of its probability."""

    token: str  # its text; a part of a character comes as U+FFFD
    logprob: float
    raw: bytes  # the bytes it stands for
    top: tuple[TokenLogprob, ...] = ()  # the likeliest tokens at its place, likeliest first


@dataclass(frozen=True)
class Completion:
    """A model's reply."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"  # stop, length, tool_calls, content_filter or other
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    logprobs: tuple[TokenLogprob, ...] = ()  # of the tokens of text, if the request asked for them

    def json(self) -> JSON:
        """The JSON value in the reply; ValueError if there is none."""
        return find_json(self.text)


@dataclass(frozen=True)
class Event:
    """One thing that happened in a trial besides calls.

    Events are compared between runs: no times, no addresses, no set order.
    """

    kind: str
    text: str = ""  # one line
    path: str = ""
    phase: str = ""
    data: Optional[JSON] = None
    level: int = 1  # lowest debug level that shows it: 1 summary, 2 verbose, 3 full


@dataclass(frozen=True)
class Evidence:
    """One thing that an answer rests on."""

    source: str
    text: str = ""


@dataclass(frozen=True)
class Answer:
    """What a method concludes. Without a value it is no right answer."""

    value_json: str = ""  # empty for none
    outcome: str = ANSWERED  # or defaulted, unparsed, refused, budget, error
    reason: str = ""  # why the outcome is not "answered"; else empty
    evidence: tuple[Evidence, ...] = ()

    @classmethod
    def ranking(cls, items: Sequence[int]) -> Answer:
        """1-based item numbers, best first."""
        return cls(encode([int(i) for i in items]))

    @classmethod
    def choice(cls, label: str) -> Answer:
        """One of the labels of the answer spec."""
        return cls(encode(str(label)))

    @classmethod
    def number(cls, x: Union[int, float, Decimal]) -> Answer:
        """A number; NaN and infinities have no JSON form and give an unparsed answer."""
        if not math.isfinite(x):
            return cls("", UNPARSED, f"the number is {x}")
        if isinstance(x, Decimal):
            text = format(x, "f")
            return cls(text.rstrip("0").rstrip(".") if "." in text else text)
        return cls(encode(x))

    @classmethod
    def text(cls, text: str) -> Answer:
        """Any text."""
        return cls(encode(str(text)))

    @classmethod
    def set(cls, members: Sequence[str]) -> Answer:
        """Names without an order."""
        return cls(encode(sorted({str(m) for m in members})))

    @classmethod
    def fields(cls, values: Mapping[str, JSON]) -> Answer:
        """Named values."""
        return cls(encode({k: values[k] for k in sorted(values)}))

    @classmethod
    def none(cls, outcome: str, reason: str) -> Answer:
        """No answer, and why: Answer.none("unparsed", "the reply held no number")."""
        return cls("", outcome, reason)

    def but(self, outcome: str, reason: str) -> Answer:
        """The same answer with another outcome and the reason for it."""
        return replace(self, outcome=outcome, reason=reason)

    def resting_on(self, *evidence: Evidence) -> Answer:
        """The same answer with what it rests on."""
        return replace(self, evidence=self.evidence + evidence)

    @property
    def value(self) -> JSON:
        """The value, decoded; None if there is none."""
        return json.loads(self.value_json) if self.value_json else None


@dataclass(frozen=True)
class Option:
    """One option of a method: ``Option("width", 5, "how many states are kept")``.

    The type is that of the default; give it by name ("bool", "int", "number",
    "string" or "model", the name of a model of the experiment) if there is no default.
    """

    name: str
    default: Any = None
    doc: str = ""
    type: str = ""
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.type:
            kinds = {bool: "bool", int: "int", float: "number", str: "string"}
            object.__setattr__(self, "type", kinds.get(type(self.default), ""))
        if self.type not in ("bool", "int", "number", "string", "model"):
            raise TypeError(f"option {self.name!r}: give a default or type= bool, int, number, string or model")
        object.__setattr__(self, "choices", tuple(str(c) for c in self.choices))

    @property
    def default_text(self) -> str:
        """The default as a user would type it; empty for none."""
        if self.default is None:
            return ""
        return str(self.default).lower() if self.type == "bool" else str(self.default)

    def check(self, value: Any) -> None:
        """Raises ValueError for a value that is not of the option's type or not one of its choices."""
        kinds = {"bool": (bool,), "int": (int,), "number": (int, float), "string": (str,), "model": (str,)}[self.type]
        if not isinstance(value, kinds) or isinstance(value, bool) and self.type != "bool":
            raise ValueError(f"option {self.name!r}: {value!r:.100} does not fit type {self.type}")
        if self.choices and str(value) not in self.choices:
            raise ValueError(f"option {self.name!r}: {value!r:.100} is not among {', '.join(self.choices)}")


@dataclass(frozen=True)
class Description:
    """What a method says of itself.

    Name, version and prompt_version are part of its identity: whoever changes
    what it sends or concludes changes one of them.
    """

    name: str = ""
    version: str = ""
    prompt_version: str = ""
    summary: str = ""
    answers: tuple[str, ...] = ()  # the kinds it can answer; empty means all
    tools: tuple[str, ...] = ()  # the tools that it cannot do without; "*": works by whichever there are
    options: tuple[Option, ...] = ()

    def fill(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options as given, with the defaults of the others. ValueError names one that is wrong."""
        known = {o.name: o.default for o in self.options}
        unknown: list[str] = sorted(set(given) - set(known))
        if unknown:
            raise ValueError(f"unknown option {unknown[0]!r}: there are {', '.join(sorted(known)) or 'none'}")
        for option in self.options:
            if option.name in given:
                option.check(given[option.name])
        return {**known, **given}


class Method(Protocol):
    """What serve takes. Beside solve a method may have describe(), or the attributes of a Description."""

    def solve(self, problem: Problem, host: Any, /) -> Any:
        """The answer to a problem; ``async def`` gets an AsyncHost, else host is a Host."""
