package battery

import (
	"context"
	"io"
	"strings"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/kernel/session/cell"
)

// broken is a cell with methods that go wrong on the second problem, each in the
// way of its name.
const broken = `
import ("context"; "errors"; "strings"; "sync"; . "noema/kernel/lab")

func second(p Problem) bool { return strings.HasPrefix(p.ID, "L2") }

func Panics(ctx context.Context, p Problem, h Host) (Answer, error) {
	if second(p) { panic(errors.New("out of ideas")) }
	return NumberAnswer(1), nil
}

func Dereferences(ctx context.Context, p Problem, h Host) (Answer, error) {
	var none *int
	if second(p) { *none = 1 }
	return NumberAnswer(1), nil
}

func InGoroutine(ctx context.Context, p Problem, h Host) (Answer, error) {
	if second(p) {
		go func() { panic("lost in a goroutine") }()
		<-make(chan bool)
	}
	return NumberAnswer(1), nil
}

func Unlocks(ctx context.Context, p Problem, h Host) (Answer, error) {
	var mu sync.Mutex
	if second(p) { mu.Unlock() }
	return NumberAnswer(1), nil
}

func WritesTogether(ctx context.Context, p Problem, h Host) (Answer, error) {
	if !second(p) { return NumberAnswer(1), nil }
	m, wg := map[int]int{}, sync.WaitGroup{}
	for g := 0; g < 8; g++ {
		wg.Add(1)
		go func() { defer wg.Done(); for i := 0; ; i++ { m[i%64] = i } }()
	}
	wg.Wait()
	return NumberAnswer(1), nil
}
`

// wrong are each engine's methods: name, function, and what the failed trial says.
// The mutex and the map end the process under yaegi, as SUBSET.md says.
var wrong = map[string][][3]string{
	"ssa": {
		{"panics", "Panics", "out of ideas"}, {"dereferences", "Dereferences", "nil pointer dereference"},
		{"in-goroutine", "InGoroutine", "lost in a goroutine"}, {"unlocks", "Unlocks", "unlock of unlocked mutex"},
		{"writes-together", "WritesTogether", "concurrent map"},
	},
	"yaegi": {
		{"panics", "Panics", "out of ideas"}, {"dereferences", "Dereferences", "--engine ssa runs it"},
		{"in-goroutine", "InGoroutine", "lost in a goroutine"},
	},
}

// TestMethodsThatGoWrong runs an experiment with methods of cells under each
// engine: what goes wrong in a trial fails that trial and no other, and the record
// says why.
func TestMethodsThatGoWrong(t *testing.T) {
	t.Parallel()
	for _, engine := range cell.Engines() {
		t.Run(engine, func(t *testing.T) {
			l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard})
			defer l.Close()
			session, err := cell.New(cell.Options{Engine: engine})
			must(t, err)
			must(t, session.Declare("lab", l))
			defer session.Close()
			ctx, cancel := context.WithTimeout(t.Context(), stuck)
			defer cancel()
			cells, wants := []string{broken}, []string(nil)
			for _, m := range wrong[engine] {
				wants = append(wants, m[2])
				cells = append(cells, `if err := lab.AddMethod("`+m[0]+`", `+m[1]+`, Number); err != nil { panic(err) }
result, err := lab.Run(Experiment{Task: "arithmetic", Methods: []string{"`+m[0]+`"}, Model: "sim", Limit: "3"})
if err != nil { panic(err) }
for _, t := range result.Trials { println(t.ID.Sample, t.Failure) }`)
			}
			for i, text := range cells {
				out := both{&recorder{}}
				if _, err := session.Run(ctx, text, out); err != nil {
					t.Fatalf("%s\n%v", text, err)
				}
				if got := out.text(); i > 0 && (strings.Count(got, "panicked") != 1 || !strings.Contains(got, wants[i-1])) {
					t.Errorf("want one failure with %q, got\n%s", wants[i-1], got)
				}
			}
		})
	}
}
