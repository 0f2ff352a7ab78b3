"""Trials and calls as rows, in pandas, polars and whatever reads Arrow."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _command

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Table:
    """The trials or the calls of a run, a row each; "noema schema" lists the columns.

    What is not known is null, never 0. Prices are in dollars, times in
    milliseconds, epochs are counted from 1. A trial with infrastructure_failure
    says nothing about its method, and has no scores.
    """

    def __init__(self, run: str, rows: str, home: str) -> None:
        self._run, self._rows, self._home = run, rows, home

    def __repr__(self) -> str:
        return f"<{self._rows} of run {self._run}: .df(), .polars(), .arrow() or .rows()>"

    def df(self) -> pandas.DataFrame:
        """As a pandas DataFrame, with nullable columns where pyarrow is installed. Needs pandas."""
        import pandas as pd

        try:
            import pyarrow  # noqa: F401
        except ImportError:
            return pd.DataFrame(self.rows())
        with self._parquet() as path:
            return pd.read_parquet(path, dtype_backend="numpy_nullable")

    def polars(self) -> polars.DataFrame:
        """As a polars DataFrame. Needs polars."""
        import polars as pl

        with self._parquet() as path:
            return pl.read_parquet(path)

    def arrow(self) -> pyarrow.Table:
        """As an Arrow table. Needs pyarrow."""
        import pyarrow.parquet as pq

        with self._parquet() as path:
            return pq.read_table(path, partitioning=None)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The Arrow interface, by which any such library reads the table: ``polars.DataFrame(r.trials)``."""
        try:
            table: Any = self.arrow()
        except ImportError:
            table = self.polars()
        return table.__arrow_c_stream__(requested_schema)

    def rows(self) -> list[dict[str, Any]]:
        """As a list of dicts. Needs nothing."""
        raw = self._export("jsonl")
        return [json.loads(line) for line in raw.splitlines() if line]

    def parquet(self, path: str) -> None:
        """Writes a Parquet file, zstd-compressed."""
        self._export("parquet", "--out", path)

    @contextlib.contextmanager
    def _parquet(self) -> Iterator[str]:
        with tempfile.TemporaryDirectory(prefix="noema-") as folder:
            path = str(Path(folder) / f"{self._rows}.parquet")
            self.parquet(path)
            yield path

    def _export(self, form: str, *more: str) -> str:
        return _command.text(["runs", "export", self._run, "--format", form, "--rows", self._rows, *more], self._home)
