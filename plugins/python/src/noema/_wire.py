"""The messages of method.proto and methods.proto, and their conversion to and from the contract.

The classes are made from a committed descriptor (method.binpb) when the module
is loaded, so that no generated code has to match the installed version of
protobuf. ``go test ./plugins/python -run Descriptor -update`` writes it anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from . import contract as c
from ._asks import Read
from .errors import from_code, to_code
from .jsontext import JSON, encode

PACKAGE = "noema.method.v1"
SERVICE = PACKAGE + ".Method"

# MAX_MESSAGE is the largest message that either side accepts, in bytes.
MAX_MESSAGE = 64 << 20


def _classes() -> dict[str, Any]:
    files = descriptor_pb2.FileDescriptorSet()
    files.ParseFromString(Path(__file__).with_name("method.binpb").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.AddSerializedFile(file.SerializeToString())
    messages = [(m.name, file.package) for file in files.file for m in file.message_type]
    descriptors = {name: pool.FindMessageTypeByName(f"{package}.{name}") for name, package in messages}
    if hasattr(message_factory, "GetMessageClass"):
        return {name: message_factory.GetMessageClass(d) for name, d in descriptors.items()}
    factory = message_factory.MessageFactory(pool)  # before protobuf 4.22
    return {name: factory.GetPrototype(d) for name, d in descriptors.items()}


M = _classes()


def clean(value: Any) -> str:
    """The text as valid UTF-8: halves of surrogate pairs are joined, or replaced by U+FFFD."""
    text = value if type(value) is str else str(value)
    if text.isascii():
        return text
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def dump(value: Optional[JSON]) -> bytes:
    """JSON for the wire; None is none."""
    return b"" if value is None else clean(encode(value)).encode()


def load(raw: bytes) -> Optional[JSON]:
    """The inverse of dump."""
    return json.loads(raw) if raw else None


def to_problem(m: Any, description: c.Description) -> c.Problem:
    a = m.answer
    return c.Problem(
        id=m.id,
        query=m.query,
        context_json=m.context.decode(),
        tools=tuple(to_tool(t) for t in m.tools),
        answer=c.AnswerSpec(a.kind, a.n, a.k, tuple(a.labels), tuple(a.names), tuple(a.texts), a.decimal, a.percent),
        seed=m.seed,
        options=description.fill(load(m.options) or {}),
    )


def to_tool(m: Any) -> c.ToolSpec:
    return c.ToolSpec(m.name, m.description, load(m.parameters), load(m.result), m.pure)


def from_tool(t: c.ToolSpec) -> Any:
    return M["ToolSpec"](
        name=clean(t.name),
        description=clean(t.description),
        parameters=dump(t.parameters),
        result=dump(t.result),
        pure=t.pure,
    )


def from_tool_call(t: c.ToolCall) -> Any:
    return M["ToolCall"](id=clean(t.id), name=clean(t.name), arguments=dump(t.arguments), path=clean(t.path))


def to_tool_call(m: Any) -> c.ToolCall:
    # A model may write arguments that are no JSON: they come as their text.
    try:
        arguments = load(m.arguments)
    except ValueError:
        arguments = m.arguments.decode(errors="replace")
    return c.ToolCall(m.name, arguments, m.id, m.path)


def fill_request(out: Any, r: c.Request) -> None:
    """Writes r into a message. In place, as it is done for every call."""
    out.SetInParent()
    for m in r.messages:
        turn = out.messages.add()
        turn.role, turn.content = clean(m.role), clean(m.content)
        if m.tool_calls:
            turn.tool_calls.extend([from_tool_call(t) for t in m.tool_calls])
        if m.call_id:
            turn.call_id = clean(m.call_id)
    _fill_sampling(out.sampling, r.sampling)
    if r.schema is not None:
        out.schema.SetInParent()
        out.schema.name, out.schema.json = clean(r.schema_name), dump(r.schema)
    if r.tools:
        out.tools.extend([from_tool(t) for t in r.tools])
    out.draw, out.path = r.draw, clean(r.path)


def _fill_sampling(out: Any, s: c.Sampling) -> None:
    out.seed = s.seed
    if s.temperature:
        out.temperature = s.temperature
    if s.top_p:
        out.top_p = s.top_p
    if s.top_k:
        out.top_k = s.top_k
    if s.max_tokens:
        out.max_tokens = s.max_tokens
    if s.stop:
        out.stop.extend([clean(t) for t in s.stop])
    if s.logprobs:
        out.logprobs = s.logprobs


def to_completion(m: Any) -> c.Completion:
    usage = c.Usage._make(getattr(m.usage, name) for name in c.Usage._fields)
    calls = tuple(to_tool_call(t) for t in m.tool_calls) if m.tool_calls else ()
    logprobs = tuple(to_logprob(t) for t in m.logprobs) if m.logprobs else ()
    return c.Completion(m.text, calls, m.finish, m.model, usage, logprobs)


def to_logprob(m: Any) -> c.TokenLogprob:
    return c.TokenLogprob(m.token, m.logprob, m.bytes or m.token.encode(), tuple(to_logprob(t) for t in m.top))


def from_answer(a: c.Answer) -> Any:
    return M["Answer"](
        value=clean(a.value_json).encode(),
        outcome=clean(a.outcome),
        reason=clean(a.reason),
        evidence=[M["Evidence"](source=clean(e.source), text=clean(e.text)) for e in a.evidence],
    )


def from_read(r: Read) -> Any:
    a = r.spec
    many = {name: [clean(x) for x in getattr(a, name)] for name in ("labels", "names", "texts")}
    one = {name: clean(getattr(a, name)) for name in ("kind", "decimal", "percent")}
    return M["Read"](text=clean(r.text), cut=r.cut, spec=M["AnswerSpec"](n=a.n, k=a.k, **many, **one))


def from_event(e: c.Event) -> Any:
    return M["Event"](
        path=clean(e.path),
        phase=clean(e.phase),
        kind=clean(e.kind),
        text=clean(" ".join(str(e.text).splitlines())),
        data=dump(e.data),
        level=e.level,
    )


def from_error(error: BaseException) -> Any:
    code, message = to_code(error)
    return M["Error"](code=code, message=clean(message))


def from_description(d: c.Description) -> bytes:
    message = M["Description"](answers=[clean(a) for a in d.answers], tools=[clean(t) for t in d.tools])
    for name in ("name", "version", "prompt_version", "summary"):
        setattr(message, name, clean(getattr(d, name)))
    for o in d.options:
        choices = [clean(x) for x in o.choices]
        message.options.add(name=clean(o.name), type=o.type, default=clean(o.default_text), choices=choices, doc=clean(o.doc))
    raw: bytes = message.SerializeToString()
    return raw


def to_result(m: Any) -> tuple[Any, Optional[BaseException]]:
    """What a call came to: a value, or an error."""
    what = m.WhichOneof("what")
    if what == "completion":
        return to_completion(m.completion), None
    if what == "tool":
        return c.ToolResult(m.tool.content, m.tool.is_error), None
    if what == "answer":
        return c.Answer(m.answer.value.decode(), m.answer.outcome, m.answer.reason), None
    if what == "seed":
        return (None if m.seed.build else m.seed.data), None
    if what == "error":
        return None, from_code(m.error.code, m.error.message)
    return None, from_code(0, "call host: the kernel sent a result of unknown kind")
