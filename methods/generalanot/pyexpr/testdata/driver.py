"""Evaluates expressions for the differential test.

Reads JSON lines ["environment as a dict display", "expression"] and writes a
JSON line [value, exception class] for each; one of the two is empty.
"""
import builtins
import datetime as dt
import functools
import json
import math
import sys
import warnings

warnings.simplefilter("ignore")
BUILTINS = (
    "abs all any bool dict divmod enumerate filter float int isinstance len list map max min pow"
    " range reversed round set sorted str sum tuple zip"
)
BASE = {"math": math, "date": dt.date, "datetime": dt.datetime, "timedelta": dt.timedelta}
for name in "log log10 exp sqrt floor ceil".split():
    BASE[name] = getattr(math, name)
BASE["__builtins__"] = {name: getattr(builtins, name) for name in BUILTINS.split()}
BASE["__builtins__"]["__import__"] = __import__  # strptime and strftime need it
ENV_NAMES = {"datetime": dt, "inf": math.inf, "nan": math.nan}


def canon(v):
    """repr, with the members of sets sorted."""
    if isinstance(v, set):
        return "set{" + ", ".join(sorted(map(canon, v))) + "}"
    if isinstance(v, list):
        return "[" + ", ".join(map(canon, v)) + "]"
    if isinstance(v, tuple):
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
