"""Evaluates expressions for the differential test.

Reads JSON lines ["environment as a dict display", "expression"] and writes a
JSON line [value, exception class] for each; one of the two is empty.
"""
import builtins
import collections
import datetime as dt
import functools
import json
import math
import re
import resource
import statistics
import sys
import warnings

warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))  # what runs away is a MemoryError
BUILTINS = (
    "abs all any bool dict divmod enumerate filter float int isinstance len list map max min pow"
    " range reversed round set sorted str sum tuple zip chr format frozenset iter next ord repr"
)
BASE = {"math": math, "date": dt.date, "datetime": dt.datetime, "timedelta": dt.timedelta, "time": dt.time,
        "collections": collections, "Counter": collections.Counter, "statistics": statistics, "re": re}
for name in "log log10 exp sqrt floor ceil".split():
    BASE[name] = getattr(math, name)
BASE["__builtins__"] = {name: getattr(builtins, name) for name in BUILTINS.split()}
BASE["__builtins__"]["__import__"] = __import__  # strptime and strftime need it
ENV_NAMES = {"datetime": dt, "inf": math.inf, "nan": math.nan}


def canon(v):
    """repr, with the members of sets sorted."""
    if isinstance(v, set):
        return "set{" + ", ".join(sorted(map(canon, v))) + "}"
    if isinstance(v, frozenset):
        return "frozenset{" + ", ".join(sorted(map(canon, v))) + "}"
    if isinstance(v, collections.Counter):
        return "Counter(" + canon(dict(v)) + ")"
    if isinstance(v, list):
        return "[" + ", ".join(map(canon, v)) + "]"
    if type(v) is tuple:
        return "(" + ", ".join(map(canon, v)) + ")"
    if isinstance(v, dict):
        return "{" + ", ".join(canon(k) + ": " + canon(x) for k, x in v.items()) + "}"
    if isinstance(v, (map, filter, zip, enumerate, reversed)) or hasattr(v, "__next__"):
        return "<iterator>"
    if callable(v) and not isinstance(v, type):
        return "<function>"
    return repr(v)


@functools.lru_cache(maxsize=4)
def names_of(env):
    return {**BASE, **eval(env, dict(ENV_NAMES))}


def result(env, src):
    try:
        names = dict(names_of(env))
        return [canon(eval(src, names)), ""]
    except SyntaxError:
        return ["", "SyntaxError"]
    except Exception as e:
        return ["", type(e).__name__]


for line in sys.stdin:
    print(json.dumps(result(*json.loads(line))))
