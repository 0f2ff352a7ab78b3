"""Reads the cases on standard input outside of trials, or in one without a kernel: ``read.py [double]``."""

import json
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

import noema
from noema import testing

sys.path.insert(0, str(pathlib.Path(__file__).parent / "methods"))
from main import Read, read_one

given = sys.stdin.read()
if sys.argv[1:] == ["double"]:
    print(testing.run(Read(), noema.Problem("?", context_json=given), lambda request: "").answer.value)
else:
    with ThreadPoolExecutor(4) as pool:
        print(noema.jsontext.encode(list(pool.map(read_one, json.loads(given)["cases"]))))
