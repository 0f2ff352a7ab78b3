package logs

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// event is a record that the forms below write in their ways.
type event struct {
	at                   time.Time
	level, host, message string
}

// kibana are the forms in which Kibana, Elasticsearch and syslog give a record out, made here
// of the shape that their exports have, with the configuration that reads each.
var kibana = []struct {
	name, log, config, head string
	line                    func(event) string
}{
	{"a report of Discover", "discover.csv", "time: '@timestamp'\nseverity: _source.level\nentities: {host: {column: host.name}}\n", "@timestamp,_source.level,host.name,message\n", func(e event) string {
		return fmt.Sprintf("%q,%s,%s,\"%s\"", e.at.Format("Jan 2, 2006 @ 15:04:05.000"), e.level, e.host, strings.ReplaceAll(e.message, `"`, `""`))
	}},
	{"flat keys", "flat.jsonl", "time: _source.@timestamp\nseverity: _source.level\nentities: {host: {column: _source.host.name}}\n", "", func(e event) string {
		return object("_source.@timestamp", e.at.Format(time.RFC3339Nano), "_source.level", e.level, "_source.host.name", e.host, "_source.message", e.message)
	}},
	{"a document within _source", "nested.ndjson", "time: _source.@timestamp\nseverity: _source.log.level\nentities: {host: {column: _source.host.name}}\n", "", func(e event) string {
		return `{"_index":"logs-1","_id":"x","_source":{"@timestamp":"` + e.at.Format(time.RFC3339Nano) + `","log":{"level":"` + e.level + `"},"host":` + object("name", e.host) + `,"message":` + quote(e.message) + `}}`
	}},
	{"keys with points within _source", "ecs.json", "format: jsonl\ntime: _source.@timestamp\nseverity: _source.log.level\nentities: {host: {column: _source.host.name}}\n", "", func(e event) string {
		return `{"_source":` + object("@timestamp", e.at.Format(time.RFC3339Nano), "log.level", e.level, "host.name", e.host, "message", e.message) + `}`
	}},
	{"syslog before JSON", "sys.log", "format: jsonl\nyear: 2026\npattern: '^(?P<time>\\w+ +\\d+ \\S+) (?P<host>\\S+)'\nseverity: level\nentities: {host: {column: host}}\n", "", func(e event) string {
		return e.at.Format(time.Stamp) + " " + e.host + " app[7]: {ctx} " + object("level", e.level, "message", e.message)
	}},
}

func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// object is a JSON object of names and texts.
func object(pairs ...string) string {
	var fields []string
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, quote(pairs[i])+":"+quote(pairs[i+1]))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// TestFormsOfAnExport: the same records are found in each form, by severity, time and entity,
// whatever the messages hold.
func TestFormsOfAnExport(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	messages := []string{"disk full", `{"level":"ERROR"}`, "a { b } c", `said "x", then "}"`, "_source.level=ERROR", "level ERROR", "é世", `back\slash`}
	begin, noon := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	var events []event
	failed, late, mine := int64(0), int64(0), int64(0)
	for range 200 {
		e := event{begin.Add(time.Duration(random.IntN(24*3600)) * time.Second), []string{"INFO", "WARN", "ERROR"}[random.IntN(3)], fmt.Sprintf("web%d", random.IntN(3)), messages[random.IntN(len(messages))]}
		events = append(events, e)
		if e.level == "ERROR" {
			failed++
		}
		if !e.at.Before(noon) {
			late++
		}
		if e.host == "web1" {
			mine++
		}
	}
	for _, form := range kibana {
		t.Run(form.name, func(t *testing.T) {
			text := form.head
			for _, e := range events {
				text += form.line(e) + "\n"
			}
			e := loaded(t, form.log, text, form.config)
			if r, _ := call(t, e, "filter_by_severity", `{"severities":["ERROR"],"selection":{}}`); r.Count != failed {
				t.Errorf("%d errors, want %d", r.Count, failed)
			}
			if r, _ := call(t, e, "filter_by_time", `{"start":"`+noon.Format(time.RFC3339)+`","selection":{}}`); r.Count != late {
				t.Errorf("%d records from noon on, want %d", r.Count, late)
			}
			if r, _ := call(t, e, "aggregate_entities", `{"entity_types":["host"]}`); r.Counts["host"]["web1"] != mine {
				t.Errorf("counts are %v, want %d of web1", r.Counts, mine)
			}
		})
	}
}

// TestTextBeforeJSON: what the first line decides is part of what the log is known by; lines
// without an object are counted as skipped, and braces in the text do no harm.
func TestTextBeforeJSON(t *testing.T) {
	digest := func(content string) string {
		made, err := LoadDir(folder(t, "app.jsonl", content, ""))
		if err != nil {
			t.Fatal(err)
		}
		return made.Config
	}
	const plainLine, before = `{"severity":"INFO","n":1}`, `Nov  3 10:00:00 web1 app[7]: `
	if digest(plainLine+"\n"+before+plainLine) == digest(before+plainLine+"\n"+plainLine) {
		t.Error("two readings have one digest")
	}
	for content, want := range map[string]struct{ read, skipped int64 }{
		plainLine + "\n" + before + plainLine + "\n" + plainLine:                                       {2, 1},
		before + plainLine + "\n" + plainLine + "\n" + before + "no object\n" + before + plainLine:     {3, 1},
		plainLine + plainLine + "\n" + before + plainLine:                                              {1, 1}, // as ever: the first object of the line
		"{{{{ x} " + plainLine + "\n" + strings.Repeat("{", 1<<18) + "\n" + "x " + plainLine + " \r\n": {0, 3},
		"x {ctx} [{y}] " + plainLine + "\n" + "x " + strings.Repeat(`{"a":`, 1<<17) + "\n" + plainLine: {2, 1},
		"panic: {\n" + before + plainLine:                                                              {0, 2},
	} {
		e := loaded(t, "app.jsonl", content, "")
		r, _ := call(t, e, "filter_by_severity", `{"severities":["INFO"],"selection":{}}`)
		if r.Skipped == nil {
			r.Skipped = &Skips{}
		}
		if r.Count != want.read || int64(r.Skipped.Rows) != want.skipped {
			t.Errorf("%.80q: %d records and %d skipped, want %+v", content, r.Count, r.Skipped.Rows, want)
		}
	}
}
