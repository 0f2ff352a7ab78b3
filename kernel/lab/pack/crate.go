package pack

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/kernel/result/record"
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
	c.head(s, ended)
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

// local is the id of an entity that is not a file.
func local(kind string, parts ...string) string {
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "#" + kind + "/" + strings.Join(parts, "/")
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
	e := entity{"@id": local("method", m.Label, m.Version, m.PromptVersion, m.Code), "@type": "SoftwareSourceCode", "name": m.Label, "version": m.Version}
	if m.PromptVersion != "" {
		e["description"] = "prompts of version " + m.PromptVersion
	}
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
func (c *crate) head(s Study, ended time.Time) {
	about := "Runs of noema with everything that they asked and were told. \"noema pack verify\" computes every trial again, without a key and without a network."
	if len(s.Redacted) > 0 {
		about = "Runs of noema, of which " + strings.Join(s.Redacted, " and ") + " were taken out; \"noema pack verify\" says what can be checked."
	}
	all := c.graph
	c.graph = nil
	c.add(entity{"@id": crateName, "@type": "CreativeWork", "about": ref("./"), "conformsTo": refs([]string{"https://w3id.org/ro/crate/1.1", profiles[3]})})
	c.add(entity{
		"@id": "./", "@type": "Dataset", "name": "a study of " + c.title(all), "description": about,
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
