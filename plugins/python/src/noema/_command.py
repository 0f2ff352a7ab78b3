"""Runs the command noema, which does the work, and reads what it prints."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Optional

from ._offer import Offer
from ._progress import Bar
from .functions import FunctionMethod

# A command that was interrupted has this long to end, in seconds; by itself it takes two at most.
_GRACE = 5.0
# How often it is looked whether a command has ended or an interrupt has come, in seconds.
_LOOK = 0.2


class CommandError(Exception):
    """The command refused or failed. str() is its message with the hint.

    code is usage, interrupted, failed_trials, diverged or error; hint says what
    helps and place what it is about, such as ``--limit``; both may be empty.
    """

    def __init__(self, message: str, code: str = "error", hint: str = "", place: str = "") -> None:
        super().__init__(f"{message}: {hint}" if hint else message)
        self.message, self.code, self.hint, self.place = message, code, hint, place


class TrialsFailed(UserWarning):
    """A run finished, and some of its trials have failed."""


def binary() -> str:
    """The command's file: $NOEMA, else the one that came with this package, else the first in the PATH."""
    given = os.environ.get("NOEMA")
    if given:
        return given
    package = Path(__file__).parent
    places = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable), package.parent / "bin"]
    with contextlib.suppress(KeyError):  # a scheme that this Python lacks
        places.append(sysconfig.get_path("scripts", f"{os.name}_user"))
    found = shutil.which("noema", path=os.pathsep.join(str(p) for p in places)) or shutil.which("noema")
    if not found:
        raise CommandError(
            "the command noema is not installed", hint="pip install a wheel for this platform, or name the file by $NOEMA"
        )
    return found


@lru_cache(maxsize=None)
def home_of(home: str, environment: str) -> str:
    """The folder of the store where nothing else is given."""
    return str(run(["version"], home=home)["home"])


def store(home: str) -> str:
    """The folder of the store."""
    return home_of(home, os.environ.get("NOEMA_HOME", ""))


def flags(options: Mapping[str, Any]) -> list[str]:
    """Options as flags: ``max_samples=4`` is ``--max-samples 4``; lists, dicts and True as one expects."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(flag)
        elif isinstance(value, Mapping):
            for key, one in value.items():
                out += [flag, f"{key}={_text(one)}"]
        elif isinstance(value, (list, tuple)):
            out += [flag, _line(value)]
        else:
            out += [flag, _text(value)]
    return out


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _line(values: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([_text(v) for v in values])
    return line.getvalue()


def run(
    arguments: Sequence[str],
    *,
    home: str = "",
    functions: Sequence[FunctionMethod] = (),
    progress: Optional[bool] = False,
    accept: Sequence[int] = (0,),
) -> Any:
    """Runs one verb with --json and returns what it printed, decoded. Raises CommandError.

    Of the exit codes in accept the output counts: 3, some trials failed, is
    then a TrialsFailed warning.
    """
    raw, code, said = output([*arguments, "--json"], home=home, functions=functions, progress=progress)
    try:
        value = json.loads(raw) if raw.strip() else None
    except ValueError:
        value = None
    failed = value.get("error") if isinstance(value, dict) else None
    if isinstance(failed, dict) and code != 0:
        raise CommandError(failed["message"], failed["code"], failed.get("hint", ""), failed.get("place", ""))
    if code not in accept or value is None:
        raise CommandError(said or f"the command ended with code {code} and said nothing")
    if code == 3:
        warnings.warn(said.replace("noema: ", "", 1), TrialsFailed, stacklevel=4)
    return value


def text(arguments: Sequence[str], home: str = "") -> str:
    """Runs one verb and returns what it printed. Raises CommandError."""
    raw, code, said = output(arguments, home=home)
    if code != 0:
        raise CommandError(said.replace("noema: ", "", 1))
    return raw.decode().rstrip("\n")


def output(
    arguments: Sequence[str], *, home: str = "", functions: Sequence[FunctionMethod] = (), progress: Optional[bool] = False
) -> tuple[bytes, int, str]:
    """Runs the command: its standard output, its exit code, and its last words.

    KeyboardInterrupt ends it, and whatever else ends this process does, too: the
    command looks whether its parent is there. Finished trials are in the store.
    """
    command = [binary(), *arguments, "--progress", "json", *(["--home", home] if home else [])]
    bar = Bar(progress)
    with Offer(functions) as variables:
        running = _Running(command, {**os.environ, **variables, "NOEMA_PARENT": str(os.getpid())}, bar)
        try:
            running.start()
            while running.is_alive():
                running.join(_LOOK)
        except BaseException:
            running.end()
            raise
        finally:
            bar.close()
    if running.failure:
        raise running.failure
    for text in bar.warnings:
        warnings.warn(text, stacklevel=5)
    return running.raw, running.code, "\n".join(running.said[-20:])


class _Running(threading.Thread):
    """A command that is started and read in a thread of its own.

    An interrupt is raised in the main thread alone: here it cannot come between a
    process and who knows of it. The main thread waits in short steps, because one that
    arrives on the way into a long system call is not raised before that returns.
    """

    def __init__(self, command: list[str], environment: Mapping[str, str], bar: Bar) -> None:
        super().__init__(daemon=True)
        self.command, self.environment, self.bar = command, environment, bar
        self.raw, self.code = b"", 0
        self.said: list[str] = []
        self.failure: Optional[Exception] = None
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._ended = False  # before it began
        self._beginning = threading.Lock()

    def run(self) -> None:
        try:
            process = self._begin()
            if process is None:
                return
            assert process.stdout and process.stderr
            listening = threading.Thread(target=_listen, args=(process.stderr, self.bar, self.said), daemon=True)
            listening.start()
            with process.stdout:
                self.raw = process.stdout.read()
            self.code = process.wait()
            listening.join()
        except Exception as fault:  # for who waits
            self.failure = fault

    def _begin(self) -> Optional[subprocess.Popen[bytes]]:
        with self._beginning:
            if not self._ended:
                self._process = subprocess.Popen(
                    self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env=self.environment, start_new_session=True,
                )
            return self._process

    def end(self) -> None:
        """Asks the command to end, as Ctrl-C does, and then makes it end with all that it has started."""
        with self._beginning:
            self._ended, process = True, self._process
        if process is None:
            return
        with contextlib.suppress(BaseException):  # a second interrupt ends the patience
            process.send_signal(signal.SIGINT)
            process.wait(_GRACE)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)  # the group has nothing else
        process.wait()


def _listen(stream: Any, bar: Bar, said: list[str]) -> None:
    """Reads standard error: progress goes to the bar, the rest is kept, and shown unless it is an error."""
    with stream:
        for line in stream:
            text = line.decode(errors="replace").rstrip("\n")
            event = None
            if text.startswith("{"):
                with contextlib.suppress(ValueError):
                    event = json.loads(text)
            if isinstance(event, dict) and "event" in event:
                bar.update(event)
                continue
            said.append(text)
            if text and not text.startswith("noema: "):
                bar.say(text)
