package cell

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"noema/kernel/base/display"
)

func TestOutputIsCaptured(t *testing.T) {
	s := newSession(t, func(o *Options) { o.Imports = []string{"fmt", "log", "os"} })
	var out recorder
	_, err := s.Run(t.Context(), `fmt.Print("a ")
fmt.Fprint(os.Stdout, "b ")
fmt.Printf("%s ", "c")
os.Stdout.WriteString("d ")
log.SetFlags(0)
log.Print("e")
fmt.Fprintln(os.Stderr, "f")
println("g", 1)`, &out)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.stdout(); got != "a b c d " {
		t.Errorf("stdout is %q", got)
	}
	if got := out.stderr(); got != "e\nf\ng 1\n" {
		t.Errorf("stderr is %q", got)
	}
}

func TestCaptureOfTheProcess(t *testing.T) {
	s := newSession(t, func(o *Options) {
		o.Capture = true
		o.Imports = []string{"fmt", "log/slog"}
	})
	declared(t, s, "compiled", func() { fmt.Print("compiled "); os.Stderr.WriteString("raw\n") })
	if _, err := New(Options{Capture: true}); err == nil {
		t.Error("two sessions capture")
	}
	var out recorder
	_, err := s.Run(t.Context(), "fmt.Print(\"cell \")\ncompiled()\nslog.Info(\"note\", \"n\", 1)\nfmt.Print(\"end\")", &out)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.stdout(); got != "cell compiled end" {
		t.Errorf("stdout is %q", got)
	}
	if got := out.stderr(); !strings.HasPrefix(got, "raw\n") || !strings.Contains(got, "INFO note n=1") {
		t.Errorf("stderr is %q", got)
	}
	if stdout, _ := s.Terminal(); stdout == os.Stdout {
		t.Error("the terminal is the captured stdout")
	}
	// The report of a runtime that ends the process would fill the session's pipe.
	var own, captured unix.Stat_t
	err = errors.Join(unix.Fstat(2, &own), unix.Fstat(int(os.Stderr.Fd()), &captured))
	if err != nil || own.Ino == captured.Ino {
		t.Errorf("descriptor 2 is captured, %v", err)
	}
}

func TestScreenKeepsTheOrder(t *testing.T) {
	var show func()
	s := declared(t, newSession(t), "show", func() { show() })
	show = func() { s.Screen().Show("id", display.Text("shown")); s.Screen().Clear(false) }
	if got := run(t, s, "fmt.Print(\"before\")\nshow()\nfmt.Print(\"after\")"); got != "before[id:shown][clear]after" {
		t.Errorf("got %q", got)
	}
}

func TestStdoutIsAVariable(t *testing.T) {
	s := newSession(t, func(o *Options) { o.Imports = []string{"fmt", "os", "io"} })
	got := run(t, s, `fmt.Print("a")
keep := os.Stdout
r, w, err := os.Pipe()
os.Stdout = w
fmt.Print("b")
os.Stdout = keep
fmt.Print(err, w.Close())
text, err := io.ReadAll(r)
fmt.Print(string(text), err)`)
	if got != "a<nil> <nil>b<nil>" {
		t.Errorf("prints %q", got)
	}
	if got := run(t, s, "os.Stdout.Close()\nfmt.Print(1)"); got != "" {
		t.Errorf("a closed stdout prints %q", got)
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	if got := run(t, s, "fmt.Print(2)"); got != "2" {
		t.Errorf("after a reset prints %q", got)
	}
}

func TestManyPrints(t *testing.T) {
	s := newSession(t)
	got := run(t, s, "for i := 0; i < 20000; i++ { fmt.Println(i) }")
	if n := strings.Count(got, "\n"); n != 20000 || !strings.HasSuffix(got, "\n19999\n") {
		t.Errorf("%d lines came", n)
	}
}

func TestInput(t *testing.T) {
	s := newSession(t, func(o *Options) { o.Imports = []string{"fmt", "bufio", "os"} })
	out := &recorder{lines: []string{"3 4", "a line", "x", "y"}}
	_, err := s.Run(t.Context(), `var a, b int
fmt.Scan(&a, &b)
r := bufio.NewScanner(os.Stdin)
r.Scan()
r.Scan()
fmt.Print(a+b, r.Text())
var w string
fmt.Scanln(&w)
fmt.Print(w)`, out)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.stdout(); got != "7a linex" {
		t.Errorf("got %q", got)
	}
	out = &recorder{}
	if _, err := s.Run(t.Context(), "_, err := fmt.Scan(&a)\nfmt.Print(err)", out); err != nil || out.stdout() != "EOF" {
		t.Errorf("where nobody can be asked: %v, %q", err, out.stdout())
	}
}

func TestInputIsInterrupted(t *testing.T) {
	s := newSession(t)
	run(t, s, "var a int")
	e, _ := interruptWith(t, s, "fmt.Scan(&a)", []string{})
	if e.Kind != "interrupted" {
		t.Errorf("ended with %s: %v", e.Kind, e)
	}
}

func TestStream(t *testing.T) {
	var got bytes.Buffer
	s, err := newStream("stdout", func(_ string, text []byte) { got.Write(text) })
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for i := range 5000 {
		text := fmt.Appendf(nil, "%d\x00\x1b\x00noema:sy", i) // half a mark
		want.Write(text)
		if _, err := s.Write(text); err != nil {
			t.Fatal(err)
		}
		if i%500 == 0 {
			s.sync()
			if i > 0 && !bytes.HasSuffix(got.Bytes(), text[:1]) && got.Len() < want.Len()-len(syncMark) {
				t.Fatalf("after sync %d of %d bytes came", got.Len(), want.Len())
			}
		}
	}
	s.close()
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes came, want %d", got.Len(), want.Len())
	}
}

// TestNothingBesideAnError: a nil pointer before an error is not shown, other
// values are, and an error that they show is shown once.
func TestNothingBesideAnError(t *testing.T) {
	failed := errors.New("no such trial")
	for want, values := range map[string][]any{
		"error: no such trial":            {(*strings.Builder)(nil), failed},
		"3\nerror: no such trial":         {3, nil, failed},
		"7":                               {7, nil},
		"error: no such trial\n\na table": {display.Text("error: no such trial\n\na table"), failed}, // which the value shows
	} {
		if got := string(shown(values)[display.PlainText]); got != want {
			t.Errorf("shows %q, want %q", got, want)
		}
	}
}
