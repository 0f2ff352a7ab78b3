package battery

import (
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"noema/kernel/session/cell"
)

var update = flag.Bool("update", false, "write the page of what cells can hold")

// least is how many snippets must run both ways, so that the battery cannot
// shrink unseen.
const least = 220

// mostRefused is how many of the programs that people write every day the engine yaegi
// may refuse.
const mostRefused = 9

// numbers are those of an index that is out of range, which yaegi does not know.
var numbers = regexp.MustCompile(`range \[.*\]( with (length|capacity) \d+)?`)

// page is where the results are written down for people.
const page = "../SUBSET.md"

// TestBattery runs every snippet in a session and compiled, and demands the
// same output or the refusal that the snippet names. It then compares the page
// with what it saw, or writes it with -update.
func TestBattery(t *testing.T) {
	t.Parallel()
	themes := loadThemes(t)
	snippets := all(themes)
	compiled := compile(t, snippets)
	if len(compiled) < least {
		t.Errorf("%d snippets run both ways, want at least %d", len(compiled), least)
	}
	var mu sync.Mutex
	found := map[*snippet]result{}
	t.Run("each", func(t *testing.T) { // until all have ended
		for _, s := range snippets {
			t.Run(s.Theme+"/"+s.Name, func(t *testing.T) {
				t.Parallel() // many wait
				r := s.check(t, strings.ReplaceAll(compiled[s.id()], s.id()+".", "main."))
				mu.Lock()
				defer mu.Unlock()
				found[s] = r
			})
		}
	})
	everyday := map[string]int{}
	for s, r := range found {
		if s.Theme == "everyday" {
			everyday[r.yaegi]++
			if r.yaegi != "right" {
				t.Logf("with engine yaegi, everyday/%s is %s", s.Name, r.yaegi)
			}
		}
	}
	if t.Logf("everyday programs with engine yaegi: %v", everyday); everyday["refused"] > mostRefused {
		t.Errorf("%d everyday programs are refused, want at most %d", everyday["refused"], mostRefused)
	}
	if t.Failed() || len(found) < len(snippets) {
		return // some failed, or -run picked a few
	}
	text := renderPage(themes, found)
	if *update {
		must(t, os.WriteFile(page, []byte(text), 0o644))
		return
	}
	old, err := os.ReadFile(page)
	must(t, err)
	if string(old) != text {
		t.Errorf("%s is not what the battery showed: run go test ./kernel/session/cell/battery -update", page)
	}
}

// result is what came of a snippet.
type result struct {
	outcome outcome
	message string // of a refusal, with its hint
	yaegi   string // "right", "refused" or "wrong"; empty for an error of Go
}

type outcome string

const (
	works     outcome = "works" // with both engines
	worksHere outcome = "works, yaegi refuses it"
	refused   outcome = "refused" // with a message and no other effect
	asGo      outcome = "an error, as in Go"
)

// check runs the snippet in a session of each engine and compares.
func (s *snippet) check(t *testing.T, want string) result {
	found := s.checkDefault(t, want)
	if found.outcome == asGo {
		return found
	}
	got, err := s.runSession(t, "yaegi")
	var fault *cell.Error
	switch {
	case found.outcome == refused && err != nil:
		found.yaegi = "refused"
	case errors.As(err, &fault) && (fault.Kind == "unsupported" || fault.Kind == "type error"):
		found.yaegi = "refused"
		t.Logf("engine yaegi: %v", err)
		if found.outcome == works {
			found.outcome = worksHere
		}
	case err == nil && numbers.ReplaceAllString(got, "range") == numbers.ReplaceAllString(want, "range") && found.outcome == works:
		found.yaegi = "right"
	default:
		found.yaegi = "wrong"
		t.Errorf("with engine yaegi: %v, prints\n%swant\n%s%s", err, got, want, s.source())
	}
	return found
}

// checkDefault runs the snippet in a session of the default engine and compares.
func (s *snippet) checkDefault(t *testing.T, want string) result {
	got, err := s.runSession(t, "")
	if part := s.refusal(); part != "" {
		switch {
		case err == nil:
			t.Errorf("runs and prints %q, want it refused with %q\n%s", got, part, s.Cells[0].Text)
		case !strings.Contains(err.Error(), part):
			t.Errorf("is refused with %q, want %q in it\n%s", err, part, s.Cells[0].Text)
		case got != "":
			t.Errorf("prints %q before it is refused\n%s", got, s.Cells[0].Text)
		}
		if s.Error != "" {
			return result{outcome: asGo, message: firstFault(err)}
		}
		return result{outcome: refused, message: firstFault(err)}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, s.source())
	} else if got != want {
		t.Errorf("prints\n%swant\n%s%s", got, want, s.source())
	}
	return result{outcome: works}
}

// firstFault is the first message of a session's error, with the cure.
func firstFault(err error) string {
	var e *cell.Error
	if !errors.As(err, &e) {
		return ""
	}
	f := e.Faults[0]
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + " (" + f.Hint + ")"
}

// source is the snippet's text as one reads it.
func (s *snippet) source() string {
	var texts []string
	for _, c := range s.Cells {
		texts = append(texts, c.Text)
	}
	return "---\n" + strings.Join(texts, "-- cell --\n")
}
