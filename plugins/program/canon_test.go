package program

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// randomID is an id as clients and agents draw them.
func randomID(r *rand.Rand) string {
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"[r.IntN(46)]
		}
		return string(b)
	}
	if r.IntN(3) == 0 {
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Int64N(1<<48))
	}
	return []string{"call_", "toolu_", "fc_", "msg_", "resp_", "chatcmpl-", "rs_"}[r.IntN(7)] + letters(8+r.IntN(30))
}

// TestIDsDoNotMatter: bodies that differ in drawn ids alone become one, and a reply that names
// the ids comes back with each execution's own.
func TestIDsDoNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		n := 1 + r.IntN(6)
		order := make([]int, 2*n)
		for i := range order {
			order[i] = r.IntN(n)
		}
		body := func() (string, []string) {
			ids := make([]string, n)
			for i := range ids {
				ids[i] = randomID(rand.New(rand.NewPCG(uint64(len(order)), r.Uint64())))
			}
			// the form of each id is the same in both executions, as a client draws it
			for i := range ids {
				ids[i] = []string{"call_", "msg_", "resp_"}[i%3] + strings.NewReplacer("_", "", "-", "").Replace(ids[i])
			}
			var parts []string
			for _, i := range order {
				parts = append(parts, fmt.Sprintf("result of %s: %d", ids[i], i))
			}
			raw, err := json.Marshal(map[string]any{"messages": parts, "n": 1.0})
			if err != nil {
				t.Fatal(err)
			}
			return string(raw), ids
		}
		c := canon{issued: func(string) bool { return false }}
		one, oneIDs := body()
		two, twoIDs := body()
		a, backA := c.take([]byte(one))
		b, backB := c.take([]byte(two))
		if string(a) != string(b) {
			t.Fatalf("%s\n%s\nbecome\n%s\n%s", one, two, a, b)
		}
		said := a // a reply that repeats all of it
		if string(restore(backA, said)) != one || string(restore(backB, said)) != two {
			t.Fatalf("%s\ncomes back as\n%s\n%v %v", one, restore(backA, said), oneIDs, twoIDs)
		}
	}
}

// TestWhatIsTheSameStays: ids of the problem and of the endpoint's own replies are one and the
// same in all executions, and the model reads them as they are.
func TestWhatIsTheSameStays(t *testing.T) {
	const own, issued = "550e8400-e29b-41d4-a716-446655440000", "call_0123456789abcdef01234567_0"
	c := canon{problem: "What is " + own + "?", issued: func(id string) bool { return id == issued }}
	body := []byte(`{"a":"` + own + ` ` + issued + `"}`)
	if got, _ := c.take(body); string(got) != string(body) {
		t.Errorf("%s became %s", body, got)
	}
}

// TestTokensAreNew: what stands for an id is nowhere else in the body, also if a program
// writes what looks like it.
func TestTokensAreNew(t *testing.T) {
	c := canon{issued: func(string) bool { return false }}
	body := `{"a":"call_n1 call_abcdefgh123 00000000-0000-4000-8000-000000000002 call_n2"}`
	got, back := c.take([]byte(body))
	if string(restore(back, got)) != body {
		t.Errorf("%s came back as %s", got, restore(back, got))
	}
}

func TestFoldersAndNoise(t *testing.T) {
	c := canon{
		folders: [][2]string{{"/tmp/x/trial/work", "/work"}, {"/tmp/x/trial/home", "/home/noema"}}, issued: func(string) bool { return false },
		noise: []*regexp.Regexp{regexp.MustCompile(`\d{4}-\d{2}-\d{2}`)},
	}
	got, back := c.take([]byte(`{"a":"today is 2026-11-26 in /tmp/x/trial/work/src, not 2025-01-01"}`))
	if want := `{"a":"today is noise-1 in /work/src, not noise-1"}`; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	if said := string(restore(back, []byte(`edit /work/src/a.py`))); said != "edit /tmp/x/trial/work/src/a.py" {
		t.Errorf("%s", said)
	}
}
