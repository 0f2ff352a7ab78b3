"""Write reasoning methods for noema in Python.

A method is a class with ``solve``; ``serve`` offers it to the kernel::

    import noema

    class Ask:
        name = "ask"
        version = "1"

        def solve(self, problem: noema.Problem, host: noema.Host) -> noema.Answer:
            reply = host.complete(problem.query, path="ask")
            return noema.read_answer(reply.text, problem.answer)

    if __name__ == "__main__":
        noema.serve(Ask())

With ``async def solve`` the host is an AsyncHost and its calls are awaited.
"""

from ._server import serve
from .aio import AsyncHost
from .contract import (
    Answer,
    AnswerSpec,
    Completion,
    Description,
    Event,
    Evidence,
    Message,
    Method,
    Option,
    Problem,
    Request,
    Sampling,
    TokenLogprob,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    assistant,
    system,
    user,
)
from .errors import BudgetExceeded, Cancelled, DeadlineExceeded, Error, Failed, ProviderFailed, ReplayMiss, UnknownTool
from .host import Host
from .jsontext import find_json
from .reading import find_number, marked, read_answer

__all__ = [
    "Answer",
    "AnswerSpec",
    "AsyncHost",
    "BudgetExceeded",
    "Cancelled",
    "Completion",
    "DeadlineExceeded",
    "Description",
    "Error",
    "Event",
    "Evidence",
    "Failed",
    "Host",
    "Message",
    "Method",
    "Option",
    "Problem",
    "ProviderFailed",
    "ReplayMiss",
    "Request",
    "Sampling",
    "TokenLogprob",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "UnknownTool",
    "Usage",
    "assistant",
    "find_json",
    "find_number",
    "marked",
    "read_answer",
    "serve",
    "system",
    "user",
]
