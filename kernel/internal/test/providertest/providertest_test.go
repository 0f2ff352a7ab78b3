package providertest

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func post(t *testing.T, s *Server, prompt string) (int, string) {
	t.Helper()
	body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, prompt)
	res, err := http.Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(raw)
}

// The books show what was paid twice, which is what they are for.
func TestBooks(t *testing.T) {
	s := New(Config{Protocol: Chat, Fault: func(a Ask) Fault {
		if a.Prompt == "cut" && a.Attempt == 1 {
			return Cut
		}
		return None
	}})
	defer s.Close()
	for _, prompt := range []string{"once", "twice", "twice", "cut", "cut"} {
		post(t, s, prompt)
	}
	got := map[Bill]int{}
	for _, b := range s.Bills() {
		got[b]++
	}
	want := map[Bill]int{
		{Requests: 1, Delivered: 1}:          1,
		{Requests: 2, Delivered: 2}:          1,
		{Requests: 2, Delivered: 1, Lost: 1}: 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The same plan fails the same requests, whatever their order.
func TestPlansAreRepeatable(t *testing.T) {
	failures := func(backwards bool) map[string]Fault {
		out := map[string]Fault{}
		p := Plan{Seed: 7, Rate: 0.5}
		for i := range 200 {
			if backwards {
				i = 199 - i
			}
			a := Ask{Key: fmt.Sprint(i), Attempt: 1, Number: i, Schema: true}
			out[a.Key] = p.fault(a)
		}
		return out
	}
	once, again := failures(false), failures(true)
	if !reflect.DeepEqual(once, again) {
		t.Error("the order of requests changes which of them fail")
	}
	none := 0
	for _, f := range once {
		if f == None {
			none++
		}
	}
	if none < 70 || none > 130 {
		t.Errorf("%d of 200 succeed at a rate of a half", none)
	}
}

func TestEachFaultIsMade(t *testing.T) {
	s := New(Config{Protocol: Chat, Plan: Plan{Each: 1}, Stall: 1})
	defer s.Close()
	for i := range 500 {
		post(t, s, fmt.Sprint("prompt ", i))
	}
	for _, f := range All() {
		want := 1
		if f == BadSchema { // nothing here has a schema
			want = 0
		}
		if n := s.Faults()[f]; n != want {
			t.Errorf("%q was made %d times, want %d", f, n, want)
		}
	}
}
