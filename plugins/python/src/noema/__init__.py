"""Compare reasoning methods, and write them, in Python.

::

    import noema

    r = noema.compare("cafes", ["direct", "cot", "anot"], limit=20)
    r                        # a table; r.verdict, r.pairs, r.trials.df(), r.root
    assert noema.replay(r)   # computed again, from the store alone

A function of a notebook is a method, too; see ``noema.method``. What follows is
for methods that are plugins.

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

from ._command import CommandError, TrialsFailed
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
from .experiment import compare, load, replay, runs, study
from .functions import FunctionMethod, method
from .host import Host
from .jsontext import find_json
from .reading import read_answer
from .result import Curve, Pair, Replay, Result, Study, Trial
from .tables import Table


def serve(method: Method) -> None:
    """Makes this process a plugin that offers method to the kernel that started it.

    Returns when the kernel asks the plugin to end; when the kernel dies, ends
    the process. From here on what is printed goes to stderr, the plugin's log.
    Needs grpcio: pip install "noema[plugins]".
    """
    from ._server import serve as begin

    begin(method)


__all__ = [
    "Answer",
    "AnswerSpec",
    "AsyncHost",
    "BudgetExceeded",
    "Cancelled",
    "CommandError",
    "Completion",
    "DeadlineExceeded",
    "Description",
    "Error",
    "Event",
    "Curve",
    "Evidence",
    "Failed",
    "FunctionMethod",
    "Host",
    "Message",
    "Method",
    "Option",
    "Pair",
    "Problem",
    "ProviderFailed",
    "Replay",
    "ReplayMiss",
    "Request",
    "Result",
    "Sampling",
    "Study",
    "Table",
    "TokenLogprob",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "Trial",
    "TrialsFailed",
    "UnknownTool",
    "Usage",
    "assistant",
    "compare",
    "find_json",
    "load",
    "method",
    "read_answer",
    "replay",
    "runs",
    "serve",
    "study",
    "system",
    "user",
]
