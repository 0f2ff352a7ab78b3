package plugins

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// asserts are the tests of the programs below: f adds, and holds on to nothing.
const asserts = `
def check(f):
    assert f(1, 2) == 3
    assert f(-4, 4) == 0
    assert all(map(lambda n: f(n, n) == 2 * n, range(50)))
    for got in map(lambda n: f(n, 1), range(9, 12)):
        assert got in (10, 11, 12)
    assert f([1], [2]) == [1, 2] and f((1,), (2,)) == (1, 2) and f("ä", "\0") == "ä\0"
    assert not f(0, 0)
    assert f(10 ** 5000, 1) == 10 ** 5000 + 1
check(f)
`

func adds() Tests { return Tests{Before: "base = 7\n", Names: []string{"f"}, Tests: asserts} }

// TestTestedPrograms: right programs pass, in whatever way they are written; wrong ones fail.
func TestTestedPrograms(t *testing.T) {
	p := python(t)
	for program, want := range map[string]string{
		"def f(a, b): return a + b":                                     "",
		"import operator\nf = operator.add":                             "",
		"f = lambda a, b: (print('noise'), a + b)[1]":                   "",
		"class F:\n    def __call__(self, a, b): return a + b\nf = F()": "",
		"def f(a, b): return a - b":                                     "AssertionError",
		"def f(a, b): return None":                                      "AssertionError",
		"def g(a, b): return a + b":                                     "KeyError: \"'f'\"",
		"def f(a":                                                       "SyntaxError",
		"def f(a, b): raise ValueError('no')":                           "ValueError: no",
		"def f(a, b): return object()":                                  "not plain data",
		"":                                                              "KeyError",
		"def f(a, b): return a + b + 1 if a == 49 else a + b":           "AssertionError",
		"def f(a, b): return True":                                      "AssertionError",
		"def f(a, b): return [a + b]":                                   "AssertionError",
		"def f(a, b): return float(a + b) if isinstance(a, int) else a + b": "OverflowError",
	} {
		if fault, err := p.Test(t.Context(), program, adds()); err != nil || (want == "") != (fault == "") || !strings.Contains(fault, want) {
			t.Errorf("%q: %q, %v", program, fault, err)
		}
	}
	values := Tests{Names: []string{"f"}, Tests: `
import math
for v in (None, True, 1.5, -0.0, 1e300, float("inf"), 2 ** 400, "\ud800", b"\xff", 1j, [], [[]], (), ((1,),), {}, {1: {(2, 3): "x"}}, set(), {1}, frozenset({(1,)}), {None: False}):
    assert f(v) == v and type(f(v)) is type(v), v
    assert f([v])[0] == v
assert math.isnan(f(float("nan"))) and math.copysign(1, f(-0.0)) == -1
try:
    f(1, 2)
    raise SystemExit("no error")
except TypeError:
    pass
`}
	if fault, err := p.Test(t.Context(), "def f(v): return v", values); fault != "" || err != nil {
		t.Errorf("values: %s, %v", fault, err)
	}
	truths := Tests{Names: []string{"f"}, Tests: "import re\nassert f('ab') and not f('b')\nassert isinstance(1, int) and f(int, 1) is True"}
	if fault, err := p.Test(t.Context(), "import re\ndef f(x, y=None): return re.match('a', x) if isinstance(x, str) else isinstance(y, x)", truths); fault != "" || err != nil {
		t.Errorf("truths and types: %s, %v", fault, err)
	}
	nodes := Tests{Names: []string{"Node", "depth"}, Tests: "root = Node(1)\nroot.left = Node(2)\nassert root.left.value == 2\nassert depth(root) == 2 and depth(root.left) == 1"}
	if fault, err := p.Test(t.Context(), "class Node:\n    def __init__(self, v): self.value, self.left = v, None\ndef depth(n): return 1 + depth(n.left) if n else 0", nodes); fault != "" || err != nil {
		t.Errorf("objects of the program: %s, %v", fault, err)
	}
}

// liars are ways to pass without a right answer. Each is a program that defines f.
func liars() map[string]string {
	wrong := "\ndef f(a, b): return 0\n"
	return map[string]string{
		"ends well at once":           "import sys; sys.exit(0)",
		"ends well in a call":         "import os\ndef f(a, b): os._exit(0)",
		"raises the end":              "def f(a, b): raise SystemExit(0)",
		"ends a loop":                 "def f(a, b): raise StopIteration",
		"ends a loop of another kind": "class E(StopIteration): pass\ndef f(a, b): raise E",
		"names an end":                "class E(Exception): pass\nE.__name__ = 'SystemExit'\ndef f(a, b): raise E",
		"names an end of loops":       "class E(Exception): pass\nE.__name__ = 'StopIteration'\ndef f(a, b): raise E",
		"interrupts":                  "def f(a, b): raise KeyboardInterrupt",
		"generates the end":           "def f(a, b): raise GeneratorExit",
		"says that it passed":         "print('passed'); print('ok')" + wrong,
		"says it as a reply":          "import os\nfor n in range(3, 20):\n    try: os.write(n, b'passed\\n')\n    except OSError: pass" + wrong,
		"replies ahead":               "import os\nfor n in range(3, 20):\n    try: os.write(n, b'[\"value\", true]\\n' * 500)\n    except OSError: pass" + wrong,
		"replies for ever":            "import os\ndef f(a, b):\n    while True:\n        for n in range(3, 20):\n            try: os.write(n, b'x' * 65536)\n            except OSError: pass",
		"replies with code":           "import os\nfor n in range(3, 20):\n    try: os.write(n, b'[\"value\", [\"kept\", \"__import__(\\'os\\')._exit(0)\"]]\\n' * 9)\n    except OSError: pass" + wrong,
		"replies with depth":          "import os\nfor n in range(3, 20):\n    try: os.write(n, b'[' * 100000 + b'\\n')\n    except OSError: pass" + wrong,
		"replies with an object":      "import os\nfor n in range(3, 20):\n    try: os.write(n, b'[\"value\", {\"kept\": 1}]\\n' * 9)\n    except OSError: pass" + wrong,
		"replies with another kind":   "import os\nfor n in range(3, 20):\n    try: os.write(n, b'[\"kept\", [\"exit\", 0]]\\n' * 9)\n    except OSError: pass" + wrong,
		"replaces assert":             "import builtins\nclass A(Exception): pass\nbuiltins.AssertionError = A" + wrong,
		"replaces all":                "import builtins\nbuiltins.all = builtins.any = lambda x: True\nbuiltins.map = lambda *a: []" + wrong,
		"replaces the exit":           "import sys, os\nsys.excepthook = lambda *a: os._exit(0)" + wrong,
		"ends well at the exit":       "import atexit, os\natexit.register(lambda: os._exit(0))" + wrong,
		"is equal to all":             "class E:\n    def __eq__(self, o): return True\n    def __ne__(self, o): return False\n    def __bool__(self): return True\ndef f(a, b): return E()",
		"is a number equal to all":    "class E(int):\n    def __eq__(self, o): return True\n    __hash__ = int.__hash__\ndef f(a, b): return E(0)",
		"is a text equal to all":      "class E(str):\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__\ndef f(a, b): return E()",
		"is a list equal to all":      "class E(list):\n    def __eq__(self, o): return True\ndef f(a, b): return E()",
		"changes JSON":                "import json\njson.dumps = lambda *a: '[\"value\", true]'" + wrong,
		"changes its wire":            "import plain\nplain.pack = lambda *a: True" + wrong,
		"changes its frames":          "import sys\nfr = sys._getframe(1)\nfr.f_globals['pack'] = lambda *a: True\nfr.f_globals['does'] = {'name': lambda n: True, 'call': lambda *a: True}" + wrong,
		"looks for the tests":         "import os, gc\nfound = []\nfor d, _, fs in os.walk('..'):\n    found += [os.path.join(d, x) for x in fs if x == 'tests.json']\nif not found: raise SystemExit(0)" + wrong,
		"reads the tests":             "import glob\nfor n in glob.glob('../noema-python-*/tests.json'):\n    open(n).read()" + wrong,
		"writes the tests":            "import glob, os\nfor n in glob.glob('../noema-python-*/tests.json') + ['../x/tests.json', 'tests.json', 'tests.py', 'program.py']:\n    try: open(n, 'w').write('{\"before\": \"\", \"names\": [], \"tests\": \"\"}')\n    except OSError: pass" + wrong,
		"looks at other processes":    "import os\nfor n in os.listdir('/proc'):\n    if n.isdigit():\n        try: open('/proc/%s/mem' % n, 'r+b').write(b'x')\n        except Exception: pass" + wrong,
		"kills its parent":            "import os, signal\ntry: os.kill(os.getppid(), signal.SIGKILL)\nexcept Exception: pass" + wrong,
		"kills all":                   "import os, signal\ntry: os.kill(-1, signal.SIGKILL)\nexcept Exception: pass" + wrong,
		"stops all":                   "import os, signal\nfor pid in range(os.getpid() - 20, os.getpid() + 20):\n    if pid != os.getpid():\n        try: os.kill(pid, signal.SIGTERM)\n        except Exception: pass" + wrong,
		"forks and replies twice":     "import os\ndef f(a, b):\n    try: os.fork()\n    except OSError: pass\n    return 3",
		"forks for ever":              "import os\ndef f(a, b):\n    while True:\n        os.fork()",
		"writes gigabytes":            "def f(a, b):\n    with open('x', 'wb') as x:\n        for i in range(4000): x.write(bytes(1 << 20))\n    return 0",
		"prints gigabytes":            "def f(a, b):\n    for i in range(2000): print('x' * (1 << 20))\n    return 0",
		"returns gigabytes":           "def f(a, b): return 'x' * (900 << 20)",
		"returns many":                "def f(a, b): return list(range(10 ** 7))",
		"returns itself":              "def f(a, b):\n    x = []\n    x.append(x)\n    return x",
		"takes memory":                "x = bytearray(4 << 30)\ndef f(a, b): return x",
		"writes errors for ever":      "import sys\ndef f(a, b):\n    while True: sys.stderr.write('x' * 1000)",
		"never ends":                  "def f(a, b):\n    while True: pass",
		"sleeps":                      "import time\ndef f(a, b): time.sleep(1000)",
		"is deaf":                     "import signal, time\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except Exception: pass\ndef f(a, b): time.sleep(1000)",
		"closes everything":           "import os\ndef f(a, b): os.closerange(0, 100)",
		"dies":                        "import os, signal\ndef f(a, b): os.kill(os.getpid(), signal.SIGSEGV)",
		"changes its argument":        "def f(a, b):\n    if isinstance(a, list): a.clear(); b.clear()\n    return b",
		"returns what it was given":   "def f(a, b): return a",
		"returns a class":             "f = bool",
		"is no function":              "f = True",
		"is a text":                   "f = 'lambda a, b: a + b'",
		"is too long":                 "f = 0\n" + strings.Repeat("#", maxProgram),
	}
}

// TestLiars: no program passes by anything but its values, each lie alone, behind another,
// and behind answers that are right for a while. No one reads the tests, or leaves anything.
func TestLiars(t *testing.T) {
	p := python(t)
	p.time = time.Second
	t.Setenv("TMPDIR", t.TempDir())
	all := liars()
	cases := map[string]string{}
	for name, program := range all {
		cases[name] = program
		if strings.Contains(program, "def f(a, b)") { // right at first
			cases[name+", later"] = strings.ReplaceAll(program, "def f(a, b)", "def lie(a, b)") +
				"\nseen = []\ndef f(a, b):\n    seen.append(a)\n    return a + b if len(seen) < 5 else lie(a, b)\n"
		}
	}
	if testing.Short() {
		for name := range cases {
			if len(cases) > 20 {
				delete(cases, name)
			}
		}
	}
	for name, program := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fault, err := p.Test(t.Context(), program, adds())
			if err != nil || fault == "" {
				t.Errorf("%q passed: %v", program, err)
			}
			if strings.Contains(fault, "passed") || len(fault) > 4*tailBytes+1000 {
				t.Errorf("%d bytes: %.300q", len(fault), fault)
			}
		})
	}
	t.Cleanup(func() {
		if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
			t.Errorf("folders are left: %v", left)
		}
	})
}

// TestTestsStayHidden: what a tested program can read holds no test.
func TestTestsStayHidden(t *testing.T) {
	p := python(t)
	const mark = "unguessable-4711"
	hunts := map[string]string{
		"files":     "import os\nfor d, _, fs in os.walk('/'):\n    if d.startswith(('/proc', '/sys', '/usr', '/root')): continue\n    for x in fs:\n        try: text += open(os.path.join(d, x), errors='replace').read(1 << 16)\n        except Exception: pass",
		"processes": "import os\nfor pid in os.listdir('/proc'):\n    for x in ('cmdline', 'environ', 'maps', 'fd/0', 'cwd/tests.json', 'root/tests.json'):\n        try: text += open(f'/proc/{pid}/{x}', errors='replace').read(1 << 16)\n        except Exception: pass",
		"itself":    "import gc, sys\nfr = sys._getframe()\nwhile fr:\n    text += repr(fr.f_globals) + repr(fr.f_locals)\n    fr = fr.f_back\ntext += ' '.join(repr(o)[:2000] for o in gc.get_objects() if isinstance(o, (dict, list, str)))",
	}
	for name, hunt := range hunts {
		program := "text = ''\n" + hunt + "\ndef f(): return 'un' + 'guessable' in text.replace('un' + \"' + 'guessable\", '')\n"
		fault, err := p.Test(t.Context(), program, Tests{Names: []string{"f"}, Tests: fmt.Sprintf("hidden = %q\nassert f() is False", mark)})
		if err != nil || fault != "" {
			t.Errorf("%s: %s, %v", name, fault, err)
		}
	}
}
