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
	{"syslog before JSON", "sys.log", "format: text+jsonl\nseverity: level\nentities: {host: {column: host}}\n", "", func(e event) string {
		return e.at.Format(time.Stamp) + " " + e.host + " app[7]: {ctx} " + object("time", e.at.Format(time.RFC3339), "level", e.level, "host", e.host, "message", e.message)
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

// TestTextBeforeJSON: text before objects is passed over where the configuration says so; where
// it does not, what is skipped says how to read it.
func TestTextBeforeJSON(t *testing.T) {
	const object, before = `{"severity":"INFO","n":1}`, `Nov  3 10:00:00 web1 app[7]: `
	for content, want := range map[string]int64{ // how many are read
		before + object + "\n" + object + "\n" + before + "no object\n" + "{ctx} [{y}] " + object + " \r\n":         3,
		object + "\n" + strings.Repeat("{", 1<<18) + "\n" + "x " + strings.Repeat(`{"a":`, 1<<17) + "\nx{" + before: 1,
		"\xfd {} " + object + "\n" + before + "{}\n":                                                                1,
	} {
		e := loaded(t, "app.log", content, "format: text+jsonl\n")
		r, _ := call(t, e, "filter_by_severity", `{"severities":["INFO"],"selection":{}}`)
		if lines := int64(strings.Count(content+"\n", "\n")); r.Count != want {
			t.Errorf("%.80q: %d of %d lines are read, want %d", content, r.Count, lines, want)
		}
	}
	made, err := LoadDir(folder(t, "app.jsonl", before+object+"\n", ""))
	if err != nil || !strings.Contains(strings.Join(made.Notes, "\n"), "text stands before the JSON object: write format: text+jsonl") {
		t.Errorf("%v, %v", made.Notes, err)
	}
	if _, err := LoadDir(folder(t, "app.log", before+object+"\n", "")); err == nil || !strings.Contains(err.Error(), "write format: text+jsonl") {
		t.Error(err)
	}
}
