package cell

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestRedefinitionReachesOldCallers(t *testing.T) {
	s := newSession(t)
	run(t, s, "func rate() int { return 2 }\nfunc price(n int) int { return n * rate() }")
	run(t, s, "func total(n int) int { return price(n) + 1 }")
	if got := value(t, s, "total(10)"); got != "21" {
		t.Errorf("before: %s, want 21", got)
	}
	run(t, s, "func rate() int { return 5 }")
	if got := value(t, s, "total(10)"); got != "51" {
		t.Errorf("after: %s, want 51", got)
	}
	got := run(t, s, "func rate() int { return 7 }\nfmt.Print(total(10))")
	if got != "71" {
		t.Errorf("in the same cell: %s, want 71", got)
	}
}

func TestVariablesPersist(t *testing.T) {
	s := newSession(t)
	run(t, s, "x := 41\nf := func() int { x++; return x }")
	if got := value(t, s, "f()"); got != "42" {
		t.Errorf("f() is %s, want 42", got)
	}
	if got := value(t, s, "x"); got != "42" {
		t.Errorf("x is %s, want 42", got)
	}
	fails(t, s, "x = 5\npanic(\"oops\")", "panic", "oops")
	if got := value(t, s, "x"); got != "5" {
		t.Errorf("after a panic x is %s, want 5", got)
	}
}

// runaways are cells that do not end, with the kind of error that an interrupt
// gives; doomed ones leave a goroutine behind.
var runaways = []struct {
	name, text string
	doomed     bool
}{
	{"loop", "for {\n}", false},
	{"channel", "<-c", false},
	{"sleep", "time.Sleep(time.Hour)", false},
	{"mutex", "mu.Lock()\nmu.Lock()", true},
	{"wait group", "wg.Add(1)\nwg.Wait()", true},
	{"compiled sleep", "time.NewTimer(time.Hour)\nwg.Wait()", true},
	{"goroutines", "go func() { for {\n} }()\nfor {\n}", false},
	{"deferred loop", "func() { defer func() { for {\n} }(); for {\n} }()", false},
	{"recovering loop", "for {\n func() { defer func() { recover() }(); for {\n} }()\n}", false},
}

func TestInterrupt(t *testing.T) {
	s := newSession(t)
	run(t, s, "import \"time\"\nimport \"sync\"\nvar mu sync.Mutex\nvar wg sync.WaitGroup\nn := 7\nget := func() int { return n }\nc := make(chan int)")
	for _, r := range runaways {
		t.Run(r.name, func(t *testing.T) {
			e, took := interrupt(t, s, r.text)
			if e.Kind != "interrupted" || took > time.Minute {
				t.Errorf("ended with %s: %v after %v, want an interrupt at once", e.Kind, e, took)
			}
			if waits := strings.Contains(e.Faults[0].Hint, "compiled code"); waits && !r.doomed {
				t.Errorf("hint %q, but nothing waits", e.Faults[0].Hint)
			}
			if got := value(t, s, "get()"); got != "7" {
				t.Errorf("a closure of before gives %s, want 7", got)
			}
			if got := run(t, s, "s := 0\nfor i := 0; i < 1000; i++ { s += i }\nfmt.Print(s)"); got != "499500" {
				t.Errorf("the next cell prints %q", got)
			}
		})
	}
}

func TestEndlessRecursion(t *testing.T) {
	s := newSession(t)
	run(t, s, "func forever(n int) int { return forever(n+1) + 1 }\nfunc deep(n int) int { if n == 0 { return 0 }; return deep(n-1) + 1 }")
	begun := time.Now()
	fails(t, s, "forever(0)", "panic", "stack overflow")
	t.Logf("ended after %v", time.Since(begun))
	if got := value(t, s, "deep(10000)"); got != "10000" {
		t.Errorf("a deep recursion gives %s, want 10000", got)
	}
}

func TestDeadlineInterrupts(t *testing.T) {
	s := newSession(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := s.Run(ctx, "for {\n}", &recorder{})
	if err == nil || err.(*Error).Kind != "interrupted" {
		t.Errorf("ends with %v, want an interrupt", err)
	}
	for range 50 { // a free turn and an ended context are both ready
		if _, err := s.Run(ctx, "1", &recorder{}); err == nil {
			t.Fatal("a cell runs under a context that has ended")
		}
	}
}

func TestGoroutinePanic(t *testing.T) {
	s := newSession(t)
	run(t, s, "c := make(chan bool)\nf := func() int { return 3 }")
	fails(t, s, "go func() { panic(\"boom\") }()\n<-c", "panic", "boom")
	if got := value(t, s, "f()"); got != "3" {
		t.Errorf("f() is %s, want 3", got)
	}
	var late recorder
	s2 := newSession(t)
	s2.Fallback(&late)
	seen := make(chan string, 10)
	late.onText = func(text string) { seen <- text }
	run(t, s2, "import \"time\"\ngo func() { time.Sleep(30 * time.Millisecond); panic(\"late boom\") }()")
	select {
	case text := <-seen:
		if !strings.Contains(text, "goroutine of cell 1") || !strings.Contains(text, "late boom") {
			t.Errorf("a late panic is reported as %q", text)
		}
	case <-time.After(2 * time.Minute):
		t.Error("a late panic is not reported")
	}
	if got := value(t, s2, "1+1"); got != "2" {
		t.Errorf("then 1+1 is %s", got)
	}
}

func TestGoroutinesOutliveTheirCellAndAnotherInterrupt(t *testing.T) {
	s := newSession(t)
	run(t, s, "import \"time\"\nin := make(chan int)\nout := make(chan int)\ngo func() { for { n := 0; select { case n = <-in: }; out <- n * 2 } }()")
	interrupt(t, s, "for {\n}")
	if got := value(t, s, "func() int { in <- 4; return <-out }()"); got != "8" {
		t.Errorf("the goroutine of a cell before answers %s, want 8", got)
	}
}

func TestExit(t *testing.T) {
	s := newSession(t)
	run(t, s, "import \"os\"\nimport \"log\"")
	var out recorder
	_, err := s.Run(t.Context(), "defer fmt.Println(\"deferred\")\nfmt.Println(\"before\")\nos.Exit(3)\nfmt.Println(\"after\")", &out)
	e, ok := err.(*Error)
	if !ok || e.Kind != "exit" || e.Code != 3 || e.Error() != "exit status 3" {
		t.Errorf("ends with %#v, want exit status 3", err)
	}
	if got := out.stdout(); got != "before\n" {
		t.Errorf("prints %q, want only what was before", got)
	}
	if e := fails(t, s, "log.Fatal(\"no\")", "exit", "exit status 1"); e.Code != 1 {
		t.Errorf("log.Fatal gives code %d", e.Code)
	}
	if got := run(t, s, "fmt.Print(1)"); got != "1" {
		t.Errorf("the next cell prints %q", got)
	}
}

func TestWrongInput(t *testing.T) {
	s := newSession(t)
	for _, c := range []struct{ name, text, kind, message string }{
		{"syntax", "x := \n", "syntax error", "cell"},
		{"brackets", "f(1, 2", "syntax error", "missing ','"},
		{"type", "var y int = \"a\"", "type error", "cannot use"},
		{"undefined", "nothere + 1", "type error", "undefined: nothere"},
		{"import", "import \"strngs\"", "type error", "\"strings\""},
		{"closed import", "import \"os/exec\"", "type error", "os/exec"},
		{"binary", "\x00\x01\xff\xfe", "syntax error", "UTF-8"},
		{"nul", "x\x00y", "syntax error", ""},
		{"megabyte of brackets", strings.Repeat("(", 1<<20), "syntax error", ""},
		{"many lines", strings.Repeat("\n", 200_000), "unsupported", "lines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fails(t, s, c.text, c.kind, c.message)
			if got := value(t, s, "1 + 1"); got != "2" {
				t.Errorf("then 1+1 is %s", got)
			}
		})
	}
}

func TestMegabyteCell(t *testing.T) {
	s := newSession(t)
	got := value(t, s, "s := `"+strings.Repeat("0123456789abcde\n", 1<<16)+"`\nlen(s)")
	if got != "1048576" {
		t.Errorf("a cell of 1 MB gives %s", got)
	}
}

func TestReset(t *testing.T) {
	s := newSession(t)
	run(t, s, "x := 1\ngo func() { for {\n} }()")
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	fails(t, s, "x", "type error", "undefined: x")
	if got := run(t, s, "x := \"text\"\nfmt.Print(x)"); got != "text" {
		t.Errorf("after a reset prints %q", got)
	}
	if s.Count() != 3 {
		t.Errorf("count is %d, want 3", s.Count())
	}
}

func TestClose(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if _, err := s.Run(t.Context(), "1", &recorder{}); err == nil {
		t.Error("a closed session runs a cell")
	}
	if err := s.Reset(); err == nil {
		t.Error("a closed session can be reset")
	}
}
