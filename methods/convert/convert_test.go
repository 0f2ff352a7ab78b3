package convert

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

type inner struct{ CallID string }

type value struct {
	ID      string
	Raw     []byte
	Inners  []inner
	Inner   inner
	Maybe   *inner
	Latency time.Duration
	At      time.Time
	Flat    struct{ Content string }
}

type innerMessage struct{ CallId string }

type timeMessage struct {
	Seconds int64
	Nanos   int32
}

type message struct {
	Id        string
	Raw       []byte
	Inners    []*innerMessage
	Inner     *innerMessage
	Maybe     *innerMessage
	LatencyNs int64
	At        *timeMessage
	Content   string
	Other     string // of the message alone
}

func TestBothWays(t *testing.T) {
	v := value{
		ID: "a", Raw: []byte("b"), Inners: []inner{{"c"}, {"d"}}, Inner: inner{"e"}, Maybe: &inner{"f"},
		Latency: 7, At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)),
	}
	v.Flat.Content = "g"
	m := To[message](v, strings.ToUpper)
	want := &message{
		Id: "A", Raw: []byte("b"), Inners: []*innerMessage{{"C"}, {"D"}}, Inner: &innerMessage{"E"}, Maybe: &innerMessage{"F"},
		LatencyNs: 7, At: &timeMessage{v.At.Unix(), 6}, Content: "G",
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("message %+v, want %+v", m, want)
	}
	v.At = v.At.UTC()
	if got := From[value](To[message](v, nil), nil); !reflect.DeepEqual(got, v) {
		t.Errorf("value %+v, want %+v", got, v)
	}
}

func TestNothing(t *testing.T) {
	m := To[message](value{Raw: []byte{}, Inners: []inner{}}, nil)
	if m.At != nil || m.Maybe != nil || m.Inner == nil || m.Inners != nil || m.Raw != nil {
		t.Errorf("of an empty value: %+v", m)
	}
	for _, m := range []*message{nil, {}, m} {
		if got := From[value](m, nil); !reflect.DeepEqual(got, value{}) {
			t.Errorf("of %+v: %+v", m, got)
		}
	}
}

func TestMissingFieldPanics(t *testing.T) {
	defer func() {
		if p, ok := recover().(string); !ok || !strings.Contains(p, "is called Name") {
			t.Errorf("recovered %v", p)
		}
	}()
	To[message](struct{ ID, Name string }{}, nil)
}
