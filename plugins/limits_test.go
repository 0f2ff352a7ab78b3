package plugins

import (
	"strings"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	standard := Limits{}.withDefaults()
	if standard.Memory != 4<<30 || standard.CPUTime != 30*time.Minute || standard.Processes != 64 || standard.Files != 1024 || standard.Output != 64<<20 {
		t.Errorf("defaults = %+v", standard)
	}
	none := Limits{Memory: -1, CPUTime: -1, Processes: -1, Files: -1, Output: -1}.withDefaults()
	if none != (Limits{}) {
		t.Errorf("no limits = %+v", none)
	}
	much := Usage{Memory: 5 << 30, CPUTime: 2 * time.Hour, Processes: 65}
	if fault := none.excess(much, time.Hour); fault != "" {
		t.Errorf("without limits: %s", fault)
	}
	for _, c := range []struct {
		used  Usage
		trial time.Duration
		want  string
	}{
		{Usage{Memory: 4 << 30, CPUTime: time.Hour, Processes: 64}, 30 * time.Minute, ""},
		{much, 0, "used 5 GiB of memory, but the limit is 4 GiB"},
		{Usage{}, 31 * time.Minute, "used 31m0s of CPU time in one trial, but the limit is 30m0s"},
		{Usage{Processes: 65}, 0, "ran 65 processes at once, but the limit is 64"},
	} {
		if fault := standard.excess(c.used, c.trial); fault != c.want {
			t.Errorf("excess of %+v = %q, want %q", c.used, fault, c.want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 64 << 20: "64 MiB", 5 << 29: "2.5 GiB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

// What a plugin writes is counted for each trial, over both streams.
func TestOutputIsCountedByTrial(t *testing.T) {
	floods := 0
	o := &output{limit: 100, flood: func(string) { floods++ }}
	for range 10 {
		o.begin(true)
		for _, name := range []string{"stdout", "stderr"} {
			if _, err := o.stream(name).Write([]byte(strings.Repeat("x", 49) + "\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if floods != 0 {
		t.Fatalf("%d floods below the limit", floods)
	}
	_, _ = o.stream("stderr").Write([]byte("\xffend"))
	if floods != 1 || !strings.HasSuffix(o.String(), "\n\uFFFDend") {
		t.Errorf("%d floods, kept %q", floods, o.String())
	}
	o.limit = 0
	_, _ = o.stream("stderr").Write([]byte(strings.Repeat("line\n", 1<<20)))
	if got := o.String(); floods != 1 || strings.Count(got, "\n") != tailLines-1 {
		t.Errorf("%d floods, kept %q", floods, got)
	}
}

func TestHandshake(t *testing.T) {
	for line, want := range map[string]string{
		"1|1|unix|/tmp/s|grpc":                 "",
		"1|1|unix|/tmp/s|grpc|":                "",
		"1|1|unix|/tmp/s|grpc||false\r\n":      "",
		"1|1|unix|/tmp/x/../s|grpc":            "",
		"1|1|tcp|127.0.0.1:4000|grpc":          "not a socket in its own folder",
		"1|1|tcp|[::1]:4000|grpc":              "not a socket in its own folder",
		"1|1|tcp|localhost:4000|grpc":          "not a socket in its own folder",
		"1|1|tcp|10.0.0.1:4000|grpc":           "not a socket in its own folder",
		"1|1|unix||grpc":                       "not a socket in its own folder",
		"1|1|unix|@abstract|grpc":              "not a socket in its own folder",
		"1|1|unix|s|grpc":                      "not a socket in its own folder",
		"1|1|unix|/tmp|grpc":                   "not a socket in its own folder",
		"1|1|unix|/tmp/../run/s|grpc":          "not a socket in its own folder",
		"1|1|unix|/tmpx/s|grpc":                "not a socket in its own folder",
		"1|1|udp|127.0.0.1:1|grpc":             "not a socket in its own folder",
		"1|1|unix|/tmp/s":                      "a transport other than gRPC",
		"1|-1|unix|/tmp/s|grpc":                "too old",
		"1|99999999999999999999|unix|s|grpc":   "not a number",
		"1|7|unix|/tmp/s|grpc":                 "too new",
		"2|1|unix|/tmp/s|grpc":                 `handshake version "2"`,
		"":                                     "did not complete the handshake",
		"\xff\x00|||" + strings.Repeat("|", 3): "announced handshake version \"\uFFFD\\x00\"",
	} {
		got := checkHandshake(line, "p", protocols(), "/tmp")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
