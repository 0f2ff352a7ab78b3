package aot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"noema/methods"
	"noema/methods/aot"
	"noema/methods/methodtest"
)

func run(t *testing.T, plan string, d *desk, o aot.Options) (aot.State, error) {
	t.Helper()
	o.Tools = tools()
	return aot.Execute(t.Context(), parse(t, plan), d, o)
}

func statuses(s aot.State) string {
	var parts []string
	for _, a := range s.Atoms {
		parts = append(parts, fmt.Sprintf("%d %s %s", a.ID, a.Status, a.Result))
	}
	return strings.Join(parts, ", ")
}

func TestExecuteSeedPlan(t *testing.T) {
	d := &desk{}
	s, err := run(t, seedPlan, d, aot.Options{Answer: methods.AnswerSpec{Kind: methods.Number}})
	if err != nil || string(s.Answer) != "56" || statuses(s) != "1 done 22, 2 done 66, 3 done 56, 4 done 56" {
		t.Errorf("answer %s, %s, %v", s.Answer, statuses(s), err)
	}
	want := []string{`atom/1 add {"a":15,"b":7}`, `atom/2 multiply {"a":22,"b":3}`, `atom/3 subtract {"a":66,"b":10}`}
	if got := d.made(); !reflect.DeepEqual(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}

func TestReferencesAndDecisions(t *testing.T) {
	for _, c := range []struct{ atoms, want string }{
		{`{"id":1,"kind":"decision","name":"average","input":{"values":[1,2,4]}}`, `2.33333333333`},
		{`{"id":1,"kind":"decision","name":"sum","input":{"values":[0.1,0.2]}}`, `0.3`},
		{`{"id":1,"kind":"decision","name":"min","input":{"values":[3,-1e2,7]}}`, `-100`},
		{`{"id":1,"kind":"decision","name":"max","input":{"values":[3,12345678901234567890.5,7]}}`, `12345678901234567890.5`},
		{`{"id":1,"kind":"decision","name":"compare","input":{"a":0.30,"op":"=","b":3e-1}}`, `true`},
		{`{"id":1,"kind":"decision","name":"compare","input":{"a":2,"op":">=","b":3}}`, `false`},
		{`{"id":2,"kind":"decision","name":"compare","input":{"a":2,"op":"!=","b":3}},{"id":1,"kind":"decision","name":"choose","input":{"if":"<result_of_2>","then":{"x":[1,"<b>"]},"else":2}}`, `{"x":[1,"<b>"]}`},
		{`{"id":2,"kind":"tool","name":"weekday","input":{"date":"x"}},{"id":3,"kind":"tool","name":"weekday","input":{"date":"after <result_of_2>, <result_of_2>"}},{"id":1,"kind":"decision","name":"choose","input":{"if":false,"then":0,"else":["<result_of_3>",{"k":"day: <result_of_2>"}]}}`, `["Friday",{"k":"day: Friday"}]`},
		{`{"id":2,"kind":"tool","name":"add","input":{"a":1,"b":0.50}},{"id":1,"kind":"decision","name":"choose","input":{"if":true,"then":"it is <result_of_2> km","else":""}}`, `"it is 1.5 km"`},
	} {
		d := &desk{}
		s, err := run(t, `{"atoms":[`+c.atoms+`,{"id":9,"kind":"final","name":"report","input":{"answer":"<result_of_1>"}}]}`, d, aot.Options{})
		if err != nil || string(s.Answer) != c.want {
			t.Errorf("%s gives %s, %v, want %s", c.atoms, s.Answer, err, c.want)
		}
	}
}

// A text that doubles with every atom must not fill the memory.
func TestGrowthIsBounded(t *testing.T) {
	atoms := []string{`{"id":1,"kind":"decision","name":"choose","input":{"if":true,"then":"` + strings.Repeat("x", 1000) + `","else":0}}`}
	for i := 2; i <= 60; i++ {
		atoms = append(atoms, fmt.Sprintf(`{"id":%d,"kind":"decision","name":"choose","input":{"if":true,"then":"<result_of_%d><result_of_%d>","else":0}}`, i, i-1, i-1))
	}
	_, err := run(t, `{"atoms":[`+strings.Join(atoms, ",")+`,{"id":99,"kind":"final","name":"r","dependsOn":[60]}]}`, &desk{}, aot.Options{})
	if err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("got %v", err)
	}
}

const branches = `{"atoms":[
 {"id":1,"kind":"tool","name":"divide","input":{"a":1,"b":0}},
 {"id":2,"kind":"tool","name":"add","input":{"a":"<result_of_1>","b":1}},
 {"id":3,"kind":"tool","name":"add","input":{"a":2,"b":2}},
 {"id":4,"kind":"tool","name":"multiply","input":{"a":"<result_of_3>","b":2}},
 {"id":5,"kind":"final","name":"report","input":{"answer":"<result_of_2>"},"dependsOn":[4]}]}`

func TestFailureStopsDependentsOnly(t *testing.T) {
	d := &desk{}
	s, err := run(t, branches, d, aot.Options{})
	var failed *aot.FailedError
	if !errors.As(err, &failed) || err.Error() != "atom 1 failed: division by zero" {
		t.Errorf("got %v", err)
	}
	if got, want := statuses(s), "1 failed , 2 skipped , 3 done 4, 4 done 8, 5 skipped "; got != want || s.Answer != nil {
		t.Errorf("state %s, want %s", got, want)
	}
}

// bookings books three rooms, of which the third needs the first, and fails
// when all are booked.
const bookings = `{"atoms":[
 {"id":7,"kind":"tool","name":"book","input":{"room":"A"},"compensate":{"name":"cancel","input":{"booking":"<result_of_7>"}}},
 {"id":2,"kind":"tool","name":"book","input":{"room":"B"},"compensate":{"name":"cancel","input":{"booking":"<result_of_2>"}}},
 {"id":3,"kind":"tool","name":"book","input":{"room":"C"},"dependsOn":[7],"compensate":{"name":"cancel","input":{"booking":"<result_of_3> after <result_of_7>"}}},
 {"id":4,"kind":"tool","name":"divide","input":{"a":1,"b":0},"dependsOn":[2,3]},
 {"id":5,"kind":"final","name":"report","input":{"answer":"<result_of_4>"}}]}`

func TestCompensationRunsInReverse(t *testing.T) {
	d := &desk{}
	s, err := run(t, bookings, d, aot.Options{})
	if err == nil || !strings.Contains(err.Error(), "atom 4 failed") {
		t.Fatalf("got %v", err)
	}
	want := []string{
		`atom/3/undo cancel {"booking":"booking of C after booking of A"}`,
		`atom/7/undo cancel {"booking":"booking of A"}`,
		`atom/2/undo cancel {"booking":"booking of B"}`,
	}
	if got := d.calls[len(d.calls)-3:]; !reflect.DeepEqual(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
	if got, want := statuses(s), `2 undone "booking of B", 7 undone "booking of A", 3 undone "booking of C", 4 failed , 5 skipped `; got != want {
		t.Errorf("state %s, want %s", got, want)
	}
}

func TestCompensationThatFails(t *testing.T) {
	d := &desk{fail: func(c methods.ToolCall) (string, bool) {
		return "no such booking", strings.HasPrefix(c.Path, "atom/7/undo")
	}}
	s, err := run(t, bookings, d, aot.Options{Retries: 1})
	if err == nil || err.Error() != "atom 4 failed: division by zero; atom 7 could not be undone: no such booking" {
		t.Errorf("got %v", err)
	}
	if !slices.ContainsFunc(d.calls, func(c string) bool { return strings.HasPrefix(c, "atom/7/undo/r1 ") }) {
		t.Errorf("no second try in %q", d.calls)
	}
	if s.Atoms[0].Status != aot.Undone || s.Atoms[1].Status != aot.Done || s.Atoms[1].Undo == "" || s.Atoms[2].Status != aot.Undone {
		t.Errorf("state %+v", s.Atoms)
	}
}

func TestRetriesAreForEffectsOnly(t *testing.T) {
	broken := func(c methods.ToolCall) (string, bool) { return "try later", c.Path == "atom/2" || c.Path == "atom/3" }
	d := &desk{fail: broken}
	s, err := run(t, `{"atoms":[
	 {"id":2,"kind":"tool","name":"book","input":{"room":"B"}},
	 {"id":3,"kind":"tool","name":"weekday","input":{"date":"x"}},
	 {"id":5,"kind":"final","name":"report","input":{"answer":"<result_of_2> on <result_of_3>"}}]}`, d, aot.Options{Retries: 3})
	if err == nil || err.Error() != "atom 3 failed: try later" || s.Atoms[0].Attempts != 2 || s.Atoms[1].Attempts != 1 {
		t.Errorf("state %+v, %v", s.Atoms, err)
	}
	if len(d.made()) != 3 {
		t.Errorf("calls %q", d.made())
	}
}

func TestTimeoutNamesTheAtom(t *testing.T) {
	d := &desk{hook: func(ctx context.Context, c methods.ToolCall) {
		if c.Path == "atom/1" {
			<-ctx.Done()
		}
	}}
	s, err := run(t, strings.Replace(branches, `"b":0`, `"b":1`, 1), d, aot.Options{Timeout: 50 * time.Millisecond})
	if err == nil || err.Error() != "atom 1 failed: it took longer than 50ms" {
		t.Errorf("got %v", err)
	}
	if got, want := statuses(s), "1 failed , 2 skipped , 3 done 4, 4 done 8, 5 skipped "; got != want {
		t.Errorf("state %s", got)
	}
}

// An execution goes on from its state: what is done is not called again, and
// what was undone, has failed or was edited is.
func TestResume(t *testing.T) {
	d := &desk{fail: func(c methods.ToolCall) (string, bool) { return "down", c.Path == "atom/3" }}
	first, err := run(t, bookings, d, aot.Options{})
	if err == nil {
		t.Fatal("no failure")
	}
	raw, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	var kept aot.State
	if err := json.Unmarshal(raw, &kept); err != nil || !reflect.DeepEqual(kept, first) {
		t.Fatalf("%s became %+v, %v", raw, kept, err)
	}

	edited := strings.Replace(branches, `"b":0`, `"b":4`, 1)
	d = &desk{}
	first, _ = run(t, branches, d, aot.Options{})
	d = &desk{}
	second, err := run(t, edited, d, aot.Options{State: &first})
	if err != nil || string(second.Answer) != "1.25" {
		t.Errorf("answer %s, %v", second.Answer, err)
	}
	if want := []string{`atom/1 divide {"a":1,"b":4}`, `atom/2 add {"a":0.25,"b":1}`}; !reflect.DeepEqual(d.made(), want) {
		t.Errorf("calls %q, want %q", d.made(), want)
	}

	d = &desk{}
	third, err := run(t, strings.Replace(edited, `"a":2,"b":2`, `"a":2,"b":3`, 1), d, aot.Options{State: &second})
	if want := []string{`atom/3 add {"a":2,"b":3}`, `atom/4 multiply {"a":5,"b":2}`}; err != nil || !reflect.DeepEqual(d.made(), want) {
		t.Errorf("calls %q, want %q, state %s, %v", d.made(), want, statuses(third), err)
	}
	d = &desk{}
	if again, err := run(t, edited, d, aot.Options{State: &second}); err != nil || len(d.made()) > 0 || !reflect.DeepEqual(again, second) {
		t.Errorf("a finished plan made %q, %v", d.made(), err)
	}
}

// 1,000 independent atoms run at the same time, but never more than allowed,
// and each costs little.
func TestThousandAtoms(t *testing.T) {
	const n, limit = 1000, 32
	var b strings.Builder
	values := make([]string, n)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `{"id":%d,"kind":"tool","name":"add","input":{"a":%d,"b":0}},`, i, i)
		values[i-1] = fmt.Sprintf(`"<result_of_%d>"`, i)
	}
	plan := parse(t, `{"atoms":[`+b.String()+`{"id":1001,"kind":"decision","name":"sum","input":{"values":[`+strings.Join(values, ",")+`]}},{"id":1002,"kind":"final","name":"r","dependsOn":[1001]}]}`)
	var now, most atomic.Int64
	full := make(chan struct{})
	open := sync.OnceFunc(func() { close(full) })
	toolbox := methodtest.ToolFunc(func(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
		running := now.Add(1)
		defer now.Add(-1)
		for high := most.Load(); running > high && !most.CompareAndSwap(high, running); high = most.Load() {
		}
		if running == limit {
			open()
		}
		select { // the first wait for each other: they really run at the same time
		case <-full:
		case <-ctx.Done():
		}
		return serve(c)
	})
	goroutines := runtime.NumGoroutine()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var ended []int
	s, err := aot.Execute(t.Context(), plan, toolbox, aot.Options{
		Tools: tools(), Concurrency: limit, OnAtom: func(a aot.AtomState) { ended = append(ended, a.ID) },
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil || string(s.Answer) != "500500" || len(ended) != n+2 {
		t.Errorf("answer %s after %d atoms, %v", s.Answer, len(ended), err)
	}
	if most.Load() != limit {
		t.Errorf("%d at the same time, want %d", most.Load(), limit)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the state of %d atoms holds %d KiB", n, grown>>10)
	}
	if left := runtime.NumGoroutine() - goroutines; left > limit {
		t.Errorf("%d goroutines are left", left)
	}
}

func TestStops(t *testing.T) {
	for _, cause := range []error{methods.ErrBudget, methods.ErrMiss} {
		var undone atomic.Bool
		toolbox := methodtest.ToolFunc(func(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
			if strings.HasSuffix(c.Path, "undo") {
				undone.Store(true)
			}
			if c.Path == "atom/3" {
				return methods.ToolResult{}, fmt.Errorf("call: %w", cause)
			}
			return serve(c)
		})
		s, err := aot.Execute(t.Context(), parse(t, bookings), toolbox, aot.Options{Tools: tools()})
		if !errors.Is(err, cause) || undone.Load() || statuses(s) != `2 done "booking of B", 7 done "booking of A"` {
			t.Errorf("%v: %v, undone %t, state %s", cause, err, undone.Load(), statuses(s))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	d := &desk{hook: func(context.Context, methods.ToolCall) { cancel() }}
	if _, err := aot.Execute(ctx, parse(t, bookings), d, aot.Options{Tools: tools()}); !errors.Is(err, context.Canceled) || len(d.made()) > 0 {
		t.Errorf("cancelled: %v after %q", err, d.made())
	}
	if _, err := aot.Execute(t.Context(), aot.Plan{}, d, aot.Options{}); !errors.As(err, new(*aot.InvalidPlanError)) {
		t.Errorf("empty plan: %v", err)
	}
}

// A tool's result is held against its schema before others use it.
func TestResultsAreChecked(t *testing.T) {
	toolbox := methodtest.ToolFunc(func(context.Context, methods.ToolCall) (methods.ToolResult, error) {
		return methods.ToolResult{Content: "twenty-two"}, nil
	})
	_, err := aot.Execute(t.Context(), parse(t, seedPlan), toolbox, aot.Options{Tools: tools()})
	if err == nil || !strings.Contains(err.Error(), `atom 1 failed: its result "twenty-two" is not what the tool promises`) {
		t.Errorf("got %v", err)
	}
	// So is what a choice hands on, whose type no schema tells beforehand.
	_, err = run(t, `{"atoms":[{"id":1,"kind":"decision","name":"choose","input":{"if":true,"then":"x","else":0}},
	 {"id":2,"kind":"tool","name":"add","input":{"a":"<result_of_1>","b":1}},{"id":3,"kind":"final","name":"r","dependsOn":[2]}]}`, &desk{}, aot.Options{})
	if err == nil || !strings.Contains(err.Error(), "atom 2 failed") || !strings.Contains(err.Error(), "want number") {
		t.Errorf("got %v", err)
	}
}
