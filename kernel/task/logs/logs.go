// Package logs is the task of answering questions about log records with tools.
// It exists because log analysis is where planning by an engine is said to beat
// planning by a model: the questions are of a few types, the data is too large to
// show, and every answer is exact.
//
// [New] generates logs of a cable network (DOCSIS) of any size, and questions of
// every type with their answers by construction; [LoadDir] takes logs of one's
// own. The log itself is never part of a problem: methods reach it through tools.
//
//	group              asks for
//	count_all          how many records there are
//	search_logs        how many records mention a device
//	find_relationship  which devices, or how many, share records with another
//	filter_and_show    how many records of a severity a device has
//	filter_entities    which devices have records of a severity at another
//	timeline           how many records a device has between two times
package logs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"noema/kernel/task"
	"noema/methods"
	"noema/methods/workflow"
)

// Name is the task's name.
const Name = "logs"

// version changes whenever the same options give other samples, or the tools
// other results.
const version = "3" // types of query have aliases, which problems show

// Options choose a generated task. The zero value is the default task.
type Options struct {
	Rows    int    `json:"rows" default:"2115" min:"100" max:"2000000" doc:"records of the log"`
	Queries int    `json:"queries" default:"60" min:"1" max:"10000" doc:"how many questions, of six types in turn"`
	Seed    uint64 `json:"seed" default:"0" doc:"seed of the log and the questions"`
}

// New generates the task. The same options always give the same log and the same
// questions.
func New(o Options) (*task.Task, error) {
	if err := methods.ParseOptions(nil, &o); err != nil {
		return nil, fmt.Errorf("generate logs: %w", err)
	}
	rows := generate(o)
	content := encode(rows)
	env, err := newEnvironment(memoryLog(content))
	if err != nil {
		return nil, err
	}
	t := &task.Task{
		Name: Name, Version: version, Summary: "questions about cable network logs, answered with tools (generated)",
		Config: fmt.Sprintf("queries=%d&rows=%d&seed=%d", o.Queries, o.Rows, o.Seed), Source: "generated",
		Notes:       []string{fmt.Sprintf("fictional log of %d records; methods reach it through tools alone", len(rows))},
		Environment: env,
	}
	t.Context = contextOf(Domain(), content)
	q := &asker{rows: rows, rng: rand.New(rand.NewPCG(o.Seed, 2))}
	for i := range o.Queries {
		s, err := q.sample(i)
		if err != nil {
			return nil, fmt.Errorf("generate logs: %w", err)
		}
		s.Problem.Context = t.Context
		t.Samples = append(t.Samples, s)
	}
	return t, nil
}

// contextOf is what methods may know of the log: its workflows and entities. The
// log's digest makes a task over another log another task.
func contextOf(d workflow.Domain, content []byte) json.RawMessage {
	sum := sha256.Sum256(content)
	return contextWith(d, hex.EncodeToString(sum[:]))
}

func contextWith(d workflow.Domain, digest string) json.RawMessage {
	return methods.Must(json.Marshal(struct {
		workflow.Domain
		Log string `json:"log_sha256"`
	}{d, digest}))
}

// row is one record.
type row struct {
	time                                      time.Time
	severity, cm, rpd, md, ip, message, clock string
}

// The values of seed 004's example: an RPD with three records of two modems.
const seedRPD = "MAWED07T01"

var seedModems = [...]string{"1c:93:7c:2a:72:c3", "28:7a:ee:c9:66:4a", "28:7a:ee:c9:66:4a"}

// generate makes the log: modems belong to one RPD and one MAC domain each.
func generate(o Options) []row {
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	rpds := make([]string, max(4, min(400, o.Rows/60)))
	for i := range rpds {
		rpds[i] = fmt.Sprintf("%s%02dT%02d", []string{"MAWED", "NYBRX", "CASJC", "TXDAL"}[i%4], 10+i/4%90, 2+i/360)
	}
	type modem struct{ mac, rpd, md, ip string }
	modems := make([]modem, max(20, o.Rows/12))
	for i := range modems {
		at := rng.IntN(len(rpds))
		modems[i] = modem{
			mac: fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", rng.IntN(256), rng.IntN(256), rng.IntN(256), rng.IntN(256), i>>8&255, i&255),
			rpd: rpds[at], md: fmt.Sprintf("Md%d:%d", at, rng.IntN(4)), ip: fmt.Sprintf("10.%d.%d.%d", at/250, at%250, 2+rng.IntN(250)),
		}
	}
	messages := map[string][]string{
		"DEBUG": {"ranging poll", "timer armed"}, "INFO": {"registration complete", "DHCP lease renewed", "profile changed"},
		"WARNING": {"T3 timeout", "power adjusted"}, "ERROR": {"T4 timeout", "lost sync", "registration refused"}, "CRITICAL": {"RPD unreachable", "hardware fault"},
	}
	severities := []string{"DEBUG", "INFO", "INFO", "INFO", "WARNING", "WARNING", "ERROR", "ERROR", "CRITICAL"}
	at := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	rows := make([]row, o.Rows)
	for i := range rows {
		m := modems[rng.IntN(len(modems))]
		s := severities[rng.IntN(len(severities))]
		at = at.Add(time.Duration(1+rng.IntN(60)) * time.Second)
		rows[i] = row{time: at, severity: s, cm: m.mac, rpd: m.rpd, md: m.md, ip: m.ip, message: messages[s][rng.IntN(len(messages[s]))]}
	}
	for k, mac := range seedModems { // three places of the log, the same for every seed
		r := &rows[(k+1)*o.Rows/5]
		r.cm, r.rpd, r.md, r.ip = mac, seedRPD, "Md7:1", "10.255.7.1"
	}
	for i := range rows {
		rows[i].clock = rows[i].time.Format(time.RFC3339)
	}
	return rows
}

func encode(rows []row) []byte {
	var b bytes.Buffer
	b.WriteString("time,severity,cm_mac,rpdname,md_id,ip,message\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,%s\n", r.clock, r.severity, r.cm, r.rpd, r.md, r.ip, r.message)
	}
	return b.Bytes()
}

// asker makes questions about rows.
type asker struct {
	rows []row
	rng  *rand.Rand
}

// kinds are the types of query in turn.
func kinds() []string {
	return []string{CountAll, FindRelationship, SearchLogs, FilterAndShow, FilterEntities, Timeline}
}

// sample makes question i. The first three are those of seed 004.
func (a *asker) sample(i int) (task.Sample, error) {
	kind := kinds()[i%len(kinds())]
	q := Question{Type: kind, Count: kind != FindRelationship && kind != FilterEntities}
	r := a.rows[a.rng.IntN(len(a.rows))]
	q.Value, q.Entity, q.Severity = r.rpd, []string{"cms", "cable modems", "modems", "mac domains"}[a.rng.IntN(4)], r.severity
	if kind == FindRelationship && i >= len(kinds()) && a.rng.IntN(4) == 0 {
		q.Count = true
	}
	if kind == Timeline {
		start := a.rng.IntN(len(a.rows))
		end := min(len(a.rows)-1, start+len(a.rows)/5+a.rng.IntN(len(a.rows)/5))
		q.Start, q.End = a.rows[start].clock, a.rows[end].clock
	}
	var text string
	var err error
	switch i {
	case 0:
		text = "count all logs"
	case 1:
		q.Value, q.Entity, text = seedRPD, "cms", "find all cms connected to rpd "+seedRPD
	case 2:
		q.Value, text = seedRPD, "How many logs mention "+seedRPD+"?"
	default:
		text, err = say(q, a.rng)
	}
	if err != nil {
		return task.Sample{}, err
	}
	return a.answered(i, q, text), nil
}

// answered adds the answer, from the rows themselves.
func (a *asker) answered(i int, q Question, text string) task.Sample {
	members, count := map[string]bool{}, 0
	for _, r := range a.rows {
		hit := r.rpd == q.Value || q.Type == CountAll
		switch q.Type {
		case FilterAndShow, FilterEntities:
			hit = hit && r.severity == q.Severity
		case Timeline:
			hit = hit && r.clock >= q.Start && r.clock <= q.End
		}
		if hit {
			count++
			members[entity(r, q.Entity)] = true
		}
	}
	spec, target := methods.AnswerSpec{Kind: methods.Number}, any(count)
	if q.Type == FindRelationship && q.Count {
		target = len(members)
	}
	if !q.Count {
		spec.Kind, target = methods.Set, slices.Sorted(maps.Keys(members))
	}
	return task.Sample{
		ID: fmt.Sprintf("Q%03d", i+1), Group: q.Type, Target: methods.Must(json.Marshal(target)),
		Problem: methods.Problem{Query: text, Answer: spec},
	}
}

func entity(r row, said string) string {
	if said == "mac domains" {
		return r.md
	}
	return r.cm
}
