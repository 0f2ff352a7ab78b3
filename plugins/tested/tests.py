"""Runs the tests in tests.json against a program in another process. What comes from there is
data, a value or the name of an error: nothing of the program runs here, and no test goes there."""
import builtins
import json
import os
import sys
from plain import pack, unpack

getattr(sys, "set_int_max_str_digits", int)(0)
told, ask = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_RDWR), 0)
os.dup2(0, 1)
LONGEST = 16 << 20  # characters of a reply


class Kept:
    """An object that the program keeps. It equals nothing, and is true if the program says so,
    which could as well have given True."""

    def __init__(self, at):
        object.__setattr__(self, "at", at)

    def __call__(self, *args, **named):
        return remote("call", self, list(args), named)

    def __getattr__(self, name):
        return remote("getattr", self, name)

    def __setattr__(self, name, value):
        remote("setattr", self, name, value)

    def __bool__(self):
        return remote("bool", self) is True

    def unknown(self, *_):
        raise TypeError("the program gave an object that is not plain data")

    __eq__ = __ne__ = __iter__ = unknown


def number(v):
    if type(v) is Kept:
        return object.__getattribute__(v, "at")
    if isinstance(v, type) and getattr(builtins, v.__name__, None) is v:
        return v.__name__
    raise TypeError(f"a test cannot give the program a {type(v).__name__}")


def remote(*what):
    ask.write(json.dumps([what[0], *[pack(p, number) for p in what[1:]]]) + "\n")
    ask.flush()
    line = told.readline(LONGEST)
    if not line.endswith("\n"):
        raise EOFError("the program has ended, or its reply is too long")
    kind, *parts = json.loads(line)
    if kind == "value":
        return unpack(parts[0], Kept)
    error = getattr(builtins, str(parts[0]), None)
    if not isinstance(error, type) or not issubclass(error, Exception) or issubclass(error, (StopIteration, StopAsyncIteration)):
        error = RuntimeError  # those would end a loop of the tests without a word
    raise error(str(parts[1]))


with open("tests.json", encoding="utf-8") as f:
    given = json.load(f)
names = {"__name__": "tests"}
exec(compile(given["before"], "before.py", "exec"), names)
for name in given["names"]:
    names[name] = remote("name", name)
exec(compile(given["tests"], "tests.py", "exec"), names)
