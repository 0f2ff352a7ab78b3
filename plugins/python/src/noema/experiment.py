"""Experiments: compare, replay, study, and the runs of the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

from . import _command
from ._rows import Task, task_text
from .functions import FunctionMethod, method
from .result import Replay, Result, Shown, Study, _id

# A method: its name with options, a file or folder, "exec:COMMAND", or a function.
Method = Union[str, "os.PathLike[str]", FunctionMethod, Callable[..., Any]]


def compare(
    task: Task,
    methods: Sequence[Method],
    *,
    model: Optional[str] = None,
    limit: Union[int, str, None] = None,
    task_name: str = "rows",
    progress: Optional[bool] = None,
    home: str = "",
    **options: Any,
) -> Result:
    """Runs methods over a task, with the same samples for each, and compares them.

    task is a name ("cafes?n=20"), a file, a DataFrame or a list of dicts with
    input and target; rows are called task_name. methods are names
    ("anot?builder=compiled"), files, folders, "exec:COMMAND", or functions; see
    noema.method. model is such as "openai/gpt-5-nano"; without one the simulated
    model answers generated tasks. limit is a number of samples, or "10-20".
    options are the flags of "noema compare": epochs=3, seed=1, cost_limit=0.5
    (dollars a trial), max_samples=4, until="decided", …

    Calls that the store has answers to are not made. Interrupted, the same call
    goes on where it was. progress shows a line on standard error; by default
    where a person looks. Raises CommandError; some failed trials are a
    TrialsFailed warning.
    """
    named, functions = _methods(methods)
    flags = _command.flags({"methods": named, "model": model, "limit": limit, **options})
    arguments = ["compare", "--task", task_text(task, home, task_name), *flags]
    data = _command.run(arguments, home=home, functions=functions, progress=progress, accept=(0, 3))
    return Result(data, home, functions)


def study(
    tasks: Sequence[Task],
    methods: Sequence[Method],
    *,
    models: Sequence[str] = (),
    limit: Union[int, str, None] = None,
    progress: Optional[bool] = None,
    home: str = "",
    **options: Any,
) -> Study:
    """Runs methods over several tasks, several models, or both, with one verdict.

    See compare. A task may have settings of its own, as "triage#limit=20".
    """
    if len(tasks) * max(len(models), 1) < 2:
        raise ValueError("a study has several tasks or several models: noema.compare takes one of each")
    named, functions = _methods(methods)
    arguments = ["compare"]
    for i, task in enumerate(tasks, 1):
        arguments += ["--task", task_text(task, home, f"rows{i}")]
    for model in models:
        arguments += ["--model", model]
    arguments += _command.flags({"methods": named, "limit": limit, **options})
    data = _command.run(arguments, home=home, functions=functions, progress=progress, accept=(0, 3))
    return Study(data, home, functions)


def replay(
    run: Union[Result, Study, str], *, functions: Sequence[Method] = (), progress: Optional[bool] = None, home: str = ""
) -> Replay:
    """Computes a run again, from the store alone, with the methods as they are now.

    run is a result, or the id of a run, the beginning of one, or "last"; then
    functions are those that the run had among its methods. Raises CommandError.
    """
    own: list[FunctionMethod] = _methods(functions)[1]
    if isinstance(run, Shown):
        home = home or run.home
        own = own or list(run.functions)
    data = _command.run(["replay", _id(run)], home=home, functions=own, progress=progress, accept=(0, 4))
    return Replay(
        data.get("run", _id(run)), data["same"], data["root_hash"], data["recorded_root_hash"],
        tuple(data.get("changed") or ()), data.get("first_divergence"),
    )


def runs(home: str = "") -> list[dict[str, Any]]:
    """The runs and studies of the store, newest first: the record of each, with its id, status and config."""
    return list(_command.run(["runs", "list"], home=home))


def load(run: str = "last", home: str = "") -> Union[Result, Study]:
    """A run or study of the store: its id, the beginning of one, or "last". Raises CommandError."""
    data = _command.run(["runs", "show", run], home=home)
    return Study(data, home) if "cells" in data else Result(data, home)


def _methods(methods: Sequence[Method]) -> tuple[list[str], list[FunctionMethod]]:
    """The methods as the command takes them, and the functions among them."""
    if isinstance(methods, (str, os.PathLike)):
        raise TypeError("methods is a list, as in [\"direct\", \"cot\"]")
    named: list[str] = []
    functions: list[FunctionMethod] = []
    for m in methods:
        if isinstance(m, (str, os.PathLike)):
            named.append(os.fspath(m))
            continue
        if not callable(m):
            raise TypeError(f"a method is a name, a path or a function, not {type(m).__name__}")
        own = m if isinstance(m, FunctionMethod) else method(m)
        named.append(own.label)
        functions.append(own)
    return named, functions
