package pack_test

import (
	"archive/zip"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/lab/pack"
)

const crateName = "ro-crate-metadata.json"

// crateIn reads the metadata of a pack: the entities by id, and the whole text.
func crateIn(t *testing.T, file string) (map[string]map[string]any, []byte) {
	t.Helper()
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	raw, err := p.Read(crateName)
	if err != nil {
		t.Fatal(err)
	}
	var crate struct {
		Context string           `json:"@context"`
		Graph   []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal(raw, &crate); err != nil || crate.Context != "https://w3id.org/ro/crate/1.1/context" {
		t.Fatalf("context %q, %v", crate.Context, err)
	}
	byID := map[string]map[string]any{}
	for _, e := range crate.Graph {
		id := e["@id"].(string)
		if byID[id] != nil {
			t.Errorf("two entities %q", id)
		}
		byID[id] = e
	}
	return byID, raw
}

// references lists what a value refers to.
func references(value any) (ids []string) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			ids = append(ids, references(one)...)
		}
	case map[string]any:
		ids = append(ids, v["@id"].(string))
	}
	return ids
}

// TestCrateDescribesThePack holds the metadata for archives to the pack and its record.
func TestCrateDescribesThePack(t *testing.T) {
	t.Parallel()
	e := small
	e.Question = "which is right more often?"
	file, root := packed(t, e)
	crate, _ := crateIn(t, file)
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := pack.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	for id, entity := range crate {
		for property, value := range entity {
			for _, other := range references(value) {
				if crate[other] == nil && !strings.HasPrefix(other, "https://") {
					t.Errorf("%s of %s refers to %q, which is not there", property, id, other)
				}
			}
		}
	}
	parts := references(crate["./"]["hasPart"])
	for _, entry := range p.Entries() {
		found := entry.Name == crateName
		for _, part := range parts {
			found = found || part == entry.Name || strings.HasSuffix(part, "/") && strings.HasPrefix(entry.Name, part)
		}
		if !found {
			t.Errorf("entry %q is in no part of the crate", entry.Name)
		}
	}
	run := crate["#run/"+s.Runs[0].ID]
	if about := run["description"].(string); !strings.Contains(about, e.Question) || !strings.Contains(about, root) {
		t.Errorf("run %v", run)
	}
	if run["endTime"].(string) != crate["./"]["datePublished"].(string) || crate["./"]["author"] != nil {
		t.Errorf("root %v", crate["./"])
	}
	if tools := references(crate["study.json"]["hasPart"]); len(tools) != 2 {
		t.Errorf("tools %v", tools)
	}
}

// TestChangedCrateIsRefused changes the metadata, which archives show.
func TestChangedCrateIsRefused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	file, _ := packed(t, small)
	if v := verify(t, file); !v.OK || len(v.Unchecked) != 0 {
		t.Errorf("verdict %+v", v)
	}
	v := verify(t, changed(t, file, func(name string, data []byte) []byte {
		if name == crateName {
			return []byte(strings.Replace(string(data), "anot", "tot", 1))
		}
		return data
	}))
	if v.OK || !strings.Contains(v.Failures[0].Wrong, crateName) {
		t.Errorf("verdict %+v", v)
	}
}

// validator runs the official validator of the profile. The context of RO-Crate, which it
// would fetch, comes from a file with the terms that packs use.
const validator = `
import io, json, sys
import rdflib.parser
from rocrate.rocrate import ROCrate
from rocrate_validator import services
from rocrate_validator.utils.http import HttpRequester
context = open(sys.argv[1], "rb").read()
class Reply(io.BytesIO):
    status_code, content, text = 200, context, context.decode()
    headers = {"Content-Type": "application/ld+json"}
    url = "https://w3id.org/ro/crate/1.1/context"
    def json(self): return json.loads(context)
    def geturl(self): return self.url
    def info(self): return self.headers
def opened(url, *args, **more):
    url = url if isinstance(url, str) else url.full_url
    if url != Reply.url: raise OSError("no network for " + url)
    return Reply(context)
rdflib.parser._urlopen = opened
HttpRequester.get = lambda self, *args, **more: opened(*args)
result = services.validate({"rocrate_uri": sys.argv[2], "profile_identifier": "provenance-run-crate-0.5", "requirement_severity": "REQUIRED"})
for issue in result.get_issues():
    print(issue.check.identifier, issue.message, issue.violatingEntity)
print("main entity", ROCrate(sys.argv[2]).mainEntity.id, "passed" if result.passed() else "failed", len(result.executed_checks) > 80)
`

// TestCrateIsValid asks the official validator, and the library that reads crates.
func TestCrateIsValid(t *testing.T) {
	t.Parallel()
	python := os.Getenv("NOEMA_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.CommandContext(t.Context(), python, "-c", "import rocrate_validator, rocrate").Run(); err != nil {
		t.Skipf("%s has no roc-validator and rocrate: pip install them, or set NOEMA_TEST_PYTHON to a Python that has them", python)
	}
	for what, e := range map[string]lab.Experiment{
		"small":     small,
		"variants":  {Task: "cafes?n=10", Methods: []string{"anot", "anot?builder=compiled"}, Limit: "2", Epochs: 2, Model: "sim?error=0.1", Name: "two / forms"},
		"with data": {Task: "arithmetic", Methods: []string{"direct"}, Limit: "2"},
	} {
		file, _ := packed(t, e)
		dir := t.TempDir()
		unzip(t, file, dir)
		out, err := exec.CommandContext(t.Context(), python, "-c", validator, "testdata/crate-context.json", dir).CombinedOutput()
		if want := "main entity study.json passed True"; err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), want) {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
}

// unzip writes the entries of a pack as they lie in it.
func unzip(t *testing.T, file, dir string) {
	t.Helper()
	r, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.CopyFS(dir, r); err != nil {
		t.Fatal(err)
	}
}
