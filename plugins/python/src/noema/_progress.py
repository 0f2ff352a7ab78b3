"""Shows how a run gets on, on a line that is rewritten."""

from __future__ import annotations

import sys
from typing import Any, Optional

_WIDTH = 20  # characters of the bar
_PARTS = " ▏▎▍▌▋▊▉█"


class Bar:
    """A bar on standard error. shown None shows it to people alone: on a terminal, or in a notebook."""

    def __init__(self, shown: Optional[bool] = None) -> None:
        self.warnings: list[str] = []
        self._shown = _watched() if shown is None else shown
        self._last = 0

    def update(self, event: dict[str, Any]) -> None:
        """Takes one line of the command's progress."""
        if event["event"] == "warning":
            self.warnings.append(event.get("text", ""))
        elif event["event"] == "note":
            self.say(f"[{event.get('sample', '')}] {event.get('text', '')}")
        elif self._shown:
            self._write(line(event))

    def say(self, text: str) -> None:
        """Prints a line of its own."""
        self.close()
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Ends the line."""
        if self._last:
            print(file=sys.stderr, flush=True)
            self._last = 0

    def _write(self, text: str) -> None:
        print("\r" + text.ljust(self._last), end="", file=sys.stderr, flush=True)
        self._last = len(text)


def line(event: dict[str, Any]) -> str:
    """A line such as `` 45%|█████████           | 9/20 [00:03<00:04] cot 0.70, 12 new calls, $0.0031``."""
    done, total = event.get("done", 0), max(event.get("total", 0), 1)
    eighths = min(done, total) * _WIDTH * 8 // total
    bar = (_PARTS[8] * (eighths // 8) + (_PARTS[eighths % 8] if eighths % 8 else "")).ljust(_WIDTH)
    said = [f"{name} {value:.2f}" for name, value in event.get("scores", {}).items()]
    said.append(f"{event.get('new_calls', 0)} new calls")
    if event.get("cost_usd"):
        said.append(f"${event['cost_usd']:.4f}")
    times = f"[{_clock(event.get('seconds', 0))}<{_clock(event.get('seconds_left', 0))}]"
    return f"{100 * done // total:3d}%|{bar}| {done}/{total} {times} {', '.join(said)}"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


def _watched() -> bool:
    """Whether a person looks at standard error."""
    terminal = getattr(sys.stderr, "isatty", lambda: False)()
    notebook = type(sys.stderr).__module__.startswith(("ipykernel", "marimo"))
    return bool(terminal or notebook)
