"""Tables of Python as tasks."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _command

# A task: its name with options, a file, a DataFrame of pandas or polars, or rows.
Task = Union[str, "os.PathLike[str]", Sequence[Mapping[str, Any]], Any]


def task_text(task: Task, home: str, name: str = "rows") -> str:
    """A task as the command takes it. Rows are written to a file in the store, which a run's record names."""
    if isinstance(task, (str, os.PathLike)):
        return os.fspath(task)
    raw = "".join(json.dumps(_plain(r), ensure_ascii=False, separators=(",", ":")) + "\n" for r in rows_of(task)).encode()
    folder = Path(_command.store(home)) / "rows" / hashlib.sha256(raw).hexdigest()[:16]
    file = folder / f"{name}.jsonl"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f".{name}.{os.getpid()}"
        part.write_bytes(raw)
        part.replace(file)
    return str(file)


def rows_of(table: Any) -> list[Mapping[str, Any]]:
    """The rows of a table. Raises TypeError for what is none."""
    if hasattr(table, "to_dicts"):  # polars
        return list(table.to_dicts())
    if hasattr(table, "iterrows"):  # pandas
        return list(table.to_dict("records"))
    if hasattr(table, "to_pylist"):  # pyarrow
        return list(table.to_pylist())
    if isinstance(table, Sequence) and table and all(isinstance(r, Mapping) for r in table):
        return list(table)
    raise TypeError(f"a task is a name, a file, a DataFrame or a list of dicts with input and target, not {type(table).__name__}")


def _plain(value: Any) -> Any:
    """A value of a table as JSON has it: numbers as numbers, what is missing as null."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return _plain(value.tolist())
    if value != value:  # pandas' missing values
        return None
    return str(value)
