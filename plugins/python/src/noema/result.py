"""What an experiment came to."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from . import _command
from .functions import FunctionMethod
from .tables import Table

if TYPE_CHECKING:
    import pandas


class Pair(NamedTuple):
    """Two methods side by side on the headline measure."""

    a: str
    b: str
    winner: str  # "" if the data name none
    difference: Optional[float]  # of the means, a minus b; None where it is not known
    low: Optional[float]  # of the interval, which holds for all pairs together
    high: Optional[float]
    p: Optional[float]  # corrected for the number of pairs
    n: int  # samples
    verdict: str  # one sentence
    least: Optional[float] = None  # low and high, whatever the trials without a score would have scored
    most: Optional[float] = None


class Shown:
    """What a notebook shows as the command's page does, and a terminal as its table.

    data is all that the command told, as "noema schema" describes it; functions
    are those among the methods.
    """

    _kind = "run"

    def __init__(self, data: dict[str, Any], home: str = "", functions: Sequence[FunctionMethod] = ()) -> None:
        self.data, self.home, self.functions = data, home, tuple(functions)
        self.id: str = data["run"]

    def __repr__(self) -> str:
        return f"<noema {self._kind} {self.id}: {self.verdict}>"

    @property
    def root(self) -> str:
        """The root hash, 64 hex digits; empty while the run is unfinished."""
        return str(self.data["root_hash"])

    @property
    def comparison(self) -> dict[str, Any]:
        """The comparison of the methods, in all numbers."""
        raise NotImplementedError

    @property
    def verdict(self) -> str:
        """One sentence on the headline measure."""
        return str(self.comparison["verdict"])

    @property
    def pairs(self) -> list[Pair]:
        """Each two methods, or each with the baseline."""
        return pairs_of(self.comparison)

    def pack(self, path: Union[str, os.PathLike[str]] = "study.noema", redact: Sequence[str] = ()) -> str:
        """Writes all that it rests on into one file, which "noema pack verify" computes again.

        redact takes out "prompts", "replies" or "items". Returns what was written.
        """
        if self.functions:
            names = ", ".join(sorted({m.name for m in self.functions}))
            raise ValueError(f"pack {self.id}: nobody else has the functions {names}: promote them, and compare the plugins")
        return _command.text(["pack", self.id, "-o", os.fspath(path), *_command.flags({"redact": list(redact) or None})], self.home)

    def curve(self, over: str = "tokens") -> Curve:
        """What each method is worth at one budget after another: of tokens, calls, cost or time."""
        return Curve(self, over)

    _flags: Sequence[str] = ()  # of the comparison that is shown

    @cached_property
    def _forms(self) -> dict[str, str]:
        forms: dict[str, str] = json.loads(_command.text(["compare", self.id, *self._flags, "--mime"], self.home))
        return forms

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {k: v for k, v in self._forms.items() if k in ("text/plain", "text/html")}

    def _repr_html_(self) -> str:
        return self._forms["text/html"]

    def __str__(self) -> str:
        """The table, as the command prints it."""
        return self._forms["text/plain"]


class Curve(Shown):
    """What each method is worth at one budget after another. Shown, it is the comparison with its curves."""

    _kind = "curve of"

    def __init__(self, of: Shown, over: str) -> None:
        self.over, self._flags = over, ("--curve", over)
        super().__init__({**_command.run(["compare", of.id, *self._flags], home=of.home), "run": of.id, "root_hash": of.root}, of.home)

    @property
    def comparison(self) -> dict[str, Any]:
        """The comparison with its curve, in all numbers."""
        found: dict[str, Any] = self.data.get("whole") or self.data
        return found

    def rows(self) -> list[dict[str, Any]]:
        """A row for each way to spend a budget, method and budget; None is not known.

        low and high hold at all budgets at once, setting is what the budget pays for,
        such as 5 draws, and better_than names the methods that are proven worse there.
        """
        found, curve = [], self.comparison["curve"]
        for way in curve["ways"]:
            for line in way["lines"]:
                for i, (budget, point) in enumerate(zip(curve["budgets"], line["points"])):
                    sides = [(p["a"], p["b"]) for p in way["pairs"] if p["points"][i].get("winner") == line["name"]]
                    found.append({
                        "way": way["way"], "method": line["name"], self.over: budget,
                        **{k: point.get(k) for k in ("value", "low", "high")},
                        "setting": (line.get("settings") or {i: None})[i],
                        "better_than": [b if a == line["name"] else a for a, b in sides],
                    })
        return found

    def df(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame. Needs pandas."""
        import pandas as pd

        return pd.DataFrame(self.rows())


class Result(Shown):
    """A run. Shown, it is the table of its methods."""

    @property
    def comparison(self) -> dict[str, Any]:
        """The comparison of the methods, in all numbers."""
        if "comparison" not in self.data:
            self.data["comparison"] = _command.run(["compare", self.id], home=self.home)
        found: dict[str, Any] = self.data["comparison"]
        return found

    @property
    def methods(self) -> list[str]:
        """The labels of the methods, in the order asked for."""
        return [m["method"] for m in self.data["methods"]]

    def score(self, method: str, metric: str = "") -> float:
        """The mean of a measure over samples, by default of the headline. Raises KeyError."""
        for m in self.data["methods"]:
            if m["method"] == method:
                return float(m["metrics"][metric or self.comparison["metric"]]["value"])
        raise KeyError(f"run {self.id} has no method {method!r}: it has {', '.join(self.methods)}")

    @property
    def params(self) -> dict[str, Any]:
        """What was compared, for trackers of experiments: task, model, samples, seed, root, …"""
        return {"run": self.id, "root": self.root, **{k: self.data[k] for k in ("task", "model", "simulated", "samples", "epochs", "seed")}}

    @property
    def metrics(self) -> dict[str, float]:
        """Every measure of every method, for trackers of experiments: "cot/accuracy", "cot/cost_usd", …

        Characters that such a tracker refuses are underscores. Costs are in
        dollars, and tokens and calls counted, over all trials.
        """
        found = {}
        for m in self.data["methods"]:
            values = {name: v["value"] for name, v in m["metrics"].items()} | m["usage"]
            found.update({f"{m['method']}/{name}": v for name, v in values.items() if isinstance(v, (int, float))})
        return {re.sub(r"[^A-Za-z0-9_\-./ ]", "_", name): float(v) for name, v in found.items()}

    @property
    def trials(self) -> Table:
        """The trials, a row each."""
        return Table(self.id, "trials", self.home)

    @property
    def calls(self) -> Table:
        """The model and tool calls, a row each, with messages and replies."""
        return Table(self.id, "calls", self.home)

    def trial(self, name: str) -> Trial:
        """One trial: "cot/q7", or "cot/q7/2" for its second epoch. Raises CommandError."""
        data = _command.run(["runs", "show", self.id, "--trial", name], home=self.home)
        return Trial(name, self.id, self.home, data)

    def diff(self, other: Union[Result, str]) -> dict[str, Any]:
        """Where two runs differ: for each trial that does, its first differing call."""
        found: dict[str, Any] = _command.run(["diff", self.id, _id(other)], home=self.home)
        return found

    def promote(self, name: str, method: Optional[str] = None) -> str:
        """Writes a function among the methods as a plugin folder of that name, and returns its path.

        method says which, if there are several. What the function uses must be
        functions, classes, imports and values that Python can write down.
        """
        from .promote import promote

        chosen = {m.name: m for m in self.functions if method in (None, m.name)}
        if len(chosen) != 1:
            known = ", ".join(sorted({m.name for m in self.functions})) or "none"
            raise ValueError(f"promote {name!r}: name one function of the run by method=; it has {known}")
        return promote(chosen.popitem()[1], name)


class Trial:
    """One trial: what a method did with one sample.

    data is its record: calls, events, answer, scores, usage.
    """

    def __init__(self, name: str, run: str, home: str, data: dict[str, Any]) -> None:
        self.name, self.data, self._run, self._home = name, data, run, home

    def __repr__(self) -> str:
        return f"<noema trial {self.name}: {self.outcome}, {self.answer!r}>"

    @property
    def answer(self) -> Any:
        """The value of the answer; None if there is none."""
        return self.data["answer"]["Value"]

    @property
    def outcome(self) -> str:
        """answered, defaulted, unparsed, refused, budget or error."""
        return str(self.data["answer"]["Outcome"])

    @property
    def scores(self) -> dict[str, float]:
        """The measures of the answer, by name."""
        return dict(self.data["score"].get("values") or {})

    @cached_property
    def transcript(self) -> str:
        """All that the trial did, down to each message."""
        return _command.text(["runs", "show", self._run, "--trial", self.name], self._home)


@dataclass(frozen=True)
class Replay:
    """What a replay found: everything computed again, from the store alone."""

    run: str
    same: bool  # the root hash is the recorded one
    root: str
    recorded: str
    changed: tuple[str, ...] = ()  # what is another now, a sentence each
    first: Optional[dict[str, Any]] = None  # the first call that differs; None if none does

    def __bool__(self) -> bool:
        return self.same


class Study(Shown):
    """An experiment over several tasks or models, with one verdict, on the mean over them."""

    _kind = "study"

    @property
    def comparison(self) -> dict[str, Any]:
        """The comparison over all tasks and models, in all numbers."""
        found: dict[str, Any] = self.data["whole"]
        return found

    @property
    def cells(self) -> dict[tuple[str, str], Result]:
        """The run of each task and model."""
        shown = {c["run"]: _command.run(["runs", "show", c["run"]], home=self.home) for c in self.data["cells"]}
        return {(c["task"], c["model"]): Result(shown[c["run"]], self.home, self.functions) for c in self.data["cells"]}


def _id(run: Union[Shown, str]) -> str:
    return run if isinstance(run, str) else run.id


def pairs_of(comparison: dict[str, Any]) -> list[Pair]:
    """Each two methods of a comparison as the command prints it."""
    return [_pair(p, comparison["metric"]) for p in comparison["pairs"] or ()]


def _pair(p: dict[str, Any], metric: str) -> Pair:
    found = p["metrics"].get(metric) or {}
    d = found.get("difference") or {}
    lost = found.get("lost") or d
    return Pair(
        p["a"], p["b"], p.get("winner", ""), d.get("value"), d.get("low"), d.get("high"), found.get("p_corrected"), d.get("n", 0), p["verdict"],
        lost.get("low"), lost.get("high"),
    )
