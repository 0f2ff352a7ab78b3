package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/kernel/record"
)

// crateName is what archives read of a pack.
const crateName = "ro-crate-metadata.json"

// The profiles that a pack conforms to: Provenance Run Crate 0.5 and those it builds on.
//
// Source: w3id.org/ro/wfrun/provenance/0.5 and w3id.org/ro/crate/1.1.
var profiles = []string{
	"https://w3id.org/ro/wfrun/process/0.5", "https://w3id.org/ro/wfrun/workflow/0.5",
	"https://w3id.org/ro/wfrun/provenance/0.5", "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
}

// milliseconds is how dates are written: the validators of the profile take no more digits.
const milliseconds = "2006-01-02T15:04:05.000-07:00"

// entity is a node of the crate. Its keys are written in alphabetical order.
type entity map[string]any

// crate makes the metadata of a study. What the records do not say is not in it: no
// author, no licence, and no date but those of the runs.
type crate struct {
	graph   []entity
	has     map[string]bool // ids in graph
	parts   []string        // ids of what the pack holds
	actions []string
	tools   []string
	steps   []string
}

// crateOf describes runs, and the files of their pack, as a Provenance Run Crate: the study
// is a workflow, its methods are the tools of the steps, and each run is an execution of it.
func crateOf(names []string, s Study, runs []*record.Run) ([]byte, error) {
	c := &crate{has: map[string]bool{}}
	c.files(names)
	c.add(entity{"@id": "#noema", "@type": "SoftwareApplication", "name": "noema", "description": "ran the methods; this pack was written by " + s.Noema})
	ended := time.Time{}
	for _, run := range runs {
		c.run(run)
		if run.Ended.After(ended) {
			ended = run.Ended
		}
	}
	c.head(ended)
	raw, err := json.MarshalIndent(entity{"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": c.graph}, "", " ")
	return append(raw, '\n'), err
}

// add adds an entity unless it is there, and returns its id.
func (c *crate) add(e entity) string {
	id := e["@id"].(string)
	if !c.has[id] {
		c.has[id] = true
		c.graph = append(c.graph, e)
	}
	return id
}

// ref refers to an entity, and refs to several.
func ref(id string) entity { return entity{"@id": id} }

func refs(ids []string) []entity {
	all := make([]entity, len(ids))
	for i, id := range ids {
		all[i] = ref(id)
	}
	return all
}

// local is the id of an entity that is no file.
func local(kind string, parts ...string) string {
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "#" + kind + "/" + strings.Join(parts, "/")
}

// folderNames says what the folders of a pack hold.
var folderNames = map[string]string{
	replies: "recorded completions with their requests", tools: "recorded tool results", seeds: "recorded method seeds",
	samples: "tasks and samples", replaced: "replies that were replaced by hand",
}

// files adds the files of a pack; batches of lines, and code, as their folders.
func (c *crate) files(names []string) {
	part := func(e entity) {
		if !c.has[e["@id"].(string)] {
			c.parts = append(c.parts, c.add(e))
		}
	}
	for _, name := range names {
		elements := strings.Split(name, "/")
		switch top := elements[0]; {
		case name == studyName: // see head
		case top == codeFolder:
			part(entity{"@id": top + "/" + elements[1] + "/", "@type": "Dataset", "name": "code of a plugin", "identifier": elements[1]})
		case len(elements) == 4:
			part(entity{"@id": strings.Join(elements[:3], "/") + "/", "@type": "Dataset", "name": "transcripts of run " + elements[1], "description": "JSON lines, compressed with zstd"})
		case folderNames[top] != "":
			part(entity{"@id": top + "/", "@type": "Dataset", "name": folderNames[top], "description": "JSON lines, compressed with zstd"})
		default:
			e := entity{"@id": name, "@type": "File", "name": name, "encodingFormat": "application/json"}
			if name == readmeName {
				e["encodingFormat"], e["about"] = "text/markdown", ref("./")
			}
			part(e)
		}
	}
	part(entity{"@id": "manifest.json", "@type": "File", "name": "SHA-256 of every file", "encodingFormat": "application/json"})
}

// run adds the execution of a run and those of its methods.
func (c *crate) run(run *record.Run) {
	from := []string{runEntry(run.ID, runFile), c.task(run), c.model(run.Config.Model)}
	results := []string{runEntry(run.ID, trialFolder) + "/", runEntry(run.ID, tableFile)}
	action := func(id, name, about, instrument string) string {
		c.actions = append(c.actions, id)
		return c.add(entity{
			"@id": id, "@type": "CreateAction", "name": name, "description": about, "instrument": ref(instrument), "object": refs(from), "result": refs(results),
			"startTime": run.Created.UTC().Format(milliseconds), "endTime": run.Ended.UTC().Format(milliseconds), "actionStatus": "http://schema.org/CompletedActionStatus",
		})
	}
	about := run.Question
	if about == "" {
		about = fmt.Sprintf("%d methods on %d samples, %d epochs, seed %d", len(run.Config.Methods), len(run.Config.Task.Samples), run.Config.Epochs, run.Config.Seed)
	}
	if run.Root != "" {
		about += "; root hash " + run.Root
	}
	whole := action(local("run", run.ID), "run "+run.ID, about, studyName)
	var controls []string
	for _, m := range run.Config.Methods {
		tool, step := c.method(m)
		made := action(local("run", run.ID, m.Label), "trials of "+m.Label+" in run "+run.ID, "times are those of the run", tool)
		controls = append(controls, c.add(entity{"@id": local("control", run.ID, m.Label), "@type": "ControlAction", "name": "step " + m.Label, "instrument": ref(step), "object": ref(made)}))
	}
	if run.Imported == nil {
		c.add(entity{"@id": local("execution", run.ID), "@type": "OrganizeAction", "name": "execution of run " + run.ID, "instrument": ref("#noema"), "object": refs(controls), "result": ref(whole)})
	}
}

// task adds the data of a run, which noema generates or reads.
func (c *crate) task(run *record.Run) string {
	t := run.Config.Task
	return c.add(entity{"@id": local("task", t.String(), t.Digest), "@type": "CreativeWork", "name": t.String(), "version": t.Version, "identifier": t.Digest, "description": "source: " + run.Source})
}

// model adds what answered.
func (c *crate) model(m record.Model) string {
	about := "a language model"
	if m.Simulated {
		about = "a simulated model, which says nothing about language models"
	}
	name := m.ID.String()
	return c.add(entity{"@id": local("model", name), "@type": "PropertyValue", "name": "model", "value": name, "description": about})
}

// method adds a method as a tool, and the step that runs it.
func (c *crate) method(m record.Method) (tool, step string) {
	e := entity{"@id": local("method", m.Label, m.Version, m.PromptVersion, m.Code), "@type": "SoftwareSourceCode", "name": m.Label, "version": m.Version, "description": "prompts of version " + m.PromptVersion}
	if code := codeFolder + "/" + m.Code + "/"; m.Code != "" && c.has[code] {
		e["hasPart"] = ref(code)
	}
	tool = c.add(e)
	if !slices.Contains(c.tools, tool) {
		c.tools = append(c.tools, tool)
		c.steps = append(c.steps, c.add(entity{"@id": "#step/" + strconv.Itoa(len(c.tools)), "@type": "HowToStep", "name": m.Label, "position": len(c.tools), "workExample": ref(tool)}))
	}
	return tool, c.steps[slices.Index(c.tools, tool)]
}

// head adds the root, the workflow and the descriptor, before all else.
func (c *crate) head(ended time.Time) {
	all := c.graph
	c.graph = nil
	c.add(entity{"@id": crateName, "@type": "CreativeWork", "about": ref("./"), "conformsTo": refs([]string{"https://w3id.org/ro/crate/1.1", profiles[3]})})
	c.add(entity{
		"@id": "./", "@type": "Dataset", "name": "a study of " + c.title(all), "description": "Runs of noema with everything that they asked and were told. \"noema verify\" computes every trial again, without a key and without a network.",
		"datePublished": ended.UTC().Format(milliseconds), "license": ref("#licence"), "conformsTo": refs(profiles),
		"hasPart": refs(append([]string{studyName}, c.parts...)), "mainEntity": ref(studyName), "mentions": refs(c.actions),
	})
	c.add(entity{"@id": "#licence", "@type": "CreativeWork", "name": "no licence is recorded", "description": "The records of the runs name no licence of the study. What their data and models allow is for those to say who give the study away."})
	c.add(entity{
		"@id": studyName, "@type": []string{"File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"}, "name": "the study", "version": strconv.Itoa(Format), "encodingFormat": "application/json",
		"programmingLanguage": ref("#language"), "hasPart": refs(c.tools), "step": refs(c.steps),
	})
	c.add(entity{"@id": "#language", "@type": "ComputerLanguage", "name": "study of noema", "version": strconv.Itoa(Format)})
	for _, p := range profiles {
		name, version := strings.TrimPrefix(p, "https://w3id.org/"), p[strings.LastIndex(p, "/")+1:]
		c.add(entity{"@id": p, "@type": "CreativeWork", "name": "profile " + name, "version": version})
	}
	c.graph = append(c.graph, all...)
}

// title names the methods of a study.
func (c *crate) title(all []entity) string {
	var names []string
	for _, e := range all {
		if slices.Contains(c.tools, e["@id"].(string)) {
			names = append(names, e["name"].(string))
		}
	}
	return strings.Join(names, ", ")
}

// described notes it if a pack's metadata is not what this noema writes of its runs. No
// claim of a study rests on it, and other builds may say things in other words.
func (x *verification) described() {
	if !x.pack.Has(crateName) {
		return
	}
	if err := x.sameCrate(); err != nil {
		x.unchecked("", "its metadata for archives, "+crateName, err.Error())
	}
}

func (x *verification) sameCrate() error {
	var names []string
	for _, e := range x.pack.Entries() {
		if e.Name != crateName {
			names = append(names, e.Name)
		}
	}
	var runs []*record.Run
	for _, s := range x.study.Runs {
		run, err := readRun(x.pack, s)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	said, err := x.pack.Read(crateName)
	if err != nil {
		return err
	}
	now, err := crateOf(names, *x.study, runs)
	if err == nil && !bytes.Equal(said, now) {
		err = errors.New("it is not what this noema says of the runs: another build wrote it, or somebody changed it: " + difference(said, now))
	}
	return err
}
