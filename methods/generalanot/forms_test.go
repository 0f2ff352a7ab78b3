package generalanot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/methods/generalanot"
)

func convert(t *testing.T, name string) *generalanot.Conversion {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata/forms", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := generalanot.Convert(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const loudReviews = `{"restaurant": {"categories": "Wine Bar, Nightlife"}, "reviews": [
	{"text": "loud", "stars": 2, "date": "2023-05-01", "useful": 2},
	{"text": "loud", "stars": 4, "date": "2024-05-01", "useful": 1},
	{"text": "calm", "stars": 5, "date": "2022-01-01", "useful": 0}]}`

// TestFormsCompute converts files of the other forms and computes with them.
func TestFormsCompute(t *testing.T) {
	level := func(review int, v string) generalanot.Extraction {
		return generalanot.Extraction{Review: review, Fields: map[string]any{"level": v, "complained": v == "loud", "LEVEL": v, "pace": v}}
	}
	for name, want := range map[string]string{
		"lists":          "N_LOUD=2 MEAN_STARS=3.6666666666666665 weight=2.1972245773362196 votes=3 years=[2023, 2024] verdict=Busy",
		"steps":          "n_slow=0 share=0.0",
		"sections":       "N_LOUD=1 SCORE=0.6666666666666666 KIND=2",
		"sections-short": "N=3 MEAN=3.6666666666666665",
		"operations":     "N_LOUD=1 WEIGHT=2.6931471805599454 LATEST=2023 KIND=3 SCORE=5.386294361119891 VERDICT=Loud",
	} {
		c := convert(t, name)
		for _, f := range c.Faults {
			t.Errorf("%s: %s", name, f)
		}
		p, faults := generalanot.NewProgram(c.Seed, spec0())
		if len(faults) > 0 {
			t.Fatal(name, faults)
		}
		r, err := p.Compute(t.Context(), contextFrom(t, loudReviews), []generalanot.Extraction{level(1, "loud"), level(2, "loud"), level(3, "quiet")})
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]string{}
		for _, s := range r.Steps {
			if s.Err != nil {
				t.Errorf("%s: %s: %v", name, s.Name, s.Err)
			}
			values[s.Name] = s.Text
		}
		var got []string
		for _, out := range c.Seed.OutputFields {
			got = append(got, out+"="+values[out])
		}
		if line := strings.ReplaceAll(strings.Join(got, " "), "'", ""); line != want {
			t.Errorf("%s: %s, want %s", name, line, want)
		}
	}
}

// TestFormsFaults holds that all faults are listed, by their place in the file.
func TestFormsFaults(t *testing.T) {
	for name, want := range map[string][]string{
		"lists-faulty": {
			"extraction_fields[0].unit: the key is not known", "lookups[0].mapping.x: want a text", "embeddings: the key is not known",
			`extraction_fields[0].type: "colour"`, "extraction_fields[1].name:", "extraction_fields[1].values:", "extraction_prompt: unknown placeholder {restaurant_name}",
			"lookups[0].table:", "lookups[0].default:", "computations[0].formula: n: parse expression", "computations[1].formula: m uses \"incident_reviews\"",
			`computations[2].formula: k reads in column 3 the field "volume"`, `output_fields[1]: no step of compute_dag computes "score"`,
		},
		"sections-faulty": {
			"filtering.relevance_detectors: ", "aggregation_definitions.N_LOUD.condition.colour: is not",
			"external_data_and_lookup.RULE: a rule in words", "tests: the key is not known", "aggregation_definitions.N_ALL.formula: N_ALL: parse expression",
			"calculation_steps.definitions.SHARE.formula: SHARE: parse expression",
		},
		"operations-faulty": {
			"extract.fields[0].kind: the key is not known", "compute[0].where.volume: is not an extraction field", "compute[1].where.level: an operator is not known",
			`compute[2].op: "median" is not known`, "compute[2].field: the key is not known", `compute[3].match: "fuzzy" is not known`, "search: the key is not known",
			"compute[4].formula: TOTAL: parse expression", `output[1]: no step of compute_dag computes "MID"`,
		},
	} {
		c := convert(t, name)
		if len(c.Faults) != len(want) {
			t.Errorf("%s: %d faults, want %d: %v", name, len(c.Faults), len(want), c.Faults)
		}
		for i, f := range c.Faults {
			if i < len(want) && !strings.HasPrefix(f.String(), want[i]) {
				t.Errorf("%s: fault %d is %q, want %q", name, i, f, want[i])
			}
		}
		raw, err := os.ReadFile(filepath.Join("testdata/forms", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = generalanot.Read(raw); err == nil || strings.Count(err.Error(), "\n") != len(want) {
			t.Errorf("%s: read gives %v, want all %d faults", name, err, len(want))
		}
	}
}

// TestFormsNotes holds that what is read otherwise or left out is said.
func TestFormsNotes(t *testing.T) {
	var all strings.Builder
	for _, n := range convert(t, "lists").Notes {
		all.WriteString(n.String() + "\n")
	}
	for _, want := range []string{
		"version: left out", "filter=substring", `"categories" is read as "restaurant.categories"`, "computations[*].depends_on: left out",
		"is read as the value of the lookup kind", "max is read as less than", `output_fields[0]: "n_loud" is read as the step "N_LOUD"`,
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no note says %q:\n%s", want, &all)
		}
	}
}

func TestFormsPrompt(t *testing.T) {
	want := "Judge the noise.\n{review_text}\n({review_date}, {review_stars} stars)\nlevel: how loud the room was\nlevel: music counts too"
	if got := convert(t, "lists").Seed.ExtractionPrompt; got != want {
		t.Errorf("prompt %q, want %q", got, want)
	}
}

// A seed of our own form comes back as it is, and text that is none is refused.
func TestFormsOwn(t *testing.T) {
	raw := []byte(seedJSON(t))
	c, err := generalanot.Convert(raw)
	if err != nil || len(c.Faults)+len(c.Notes) > 0 || c.Seed.TaskName != seed(t).TaskName {
		t.Errorf("own form: %+v, %v", c, err)
	}
	for _, bad := range []string{"", "[]", "{", `{"version": }`, "null", `{"version": 1} {`, `{"extraction_fields": 5, "compute_dag": {}}`} {
		if c, err := generalanot.Convert([]byte(bad)); err == nil && len(c.Faults) == 0 {
			t.Errorf("%q converts", bad)
		}
	}
}

// TestFormsBounded holds that a file cannot cost more than it is worth.
func TestFormsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var b strings.Builder
	b.WriteString(`{"computations": [`)
	for i := range 20_000 {
		fmt.Fprintf(&b, `{"name": "s%d", "formula": "t%d.get(x)"},`, i, i)
	}
	b.WriteString(`{}], "lookups": [`)
	for i := range 20_000 {
		fmt.Fprintf(&b, `{"name": "t%d", "mapping": {"a": 1}, "default": 0},`, i)
	}
	b.WriteString(`{}], "output_fields": ["s1"]}`)
	c, err := generalanot.Convert([]byte(b.String()))
	if err != nil || len(c.Faults) == 0 || c.Faults[0].String() != "lookups: there are more than 1000: the rest is not read" {
		t.Errorf("%v, %v", c.Faults[:min(len(c.Faults), 3)], err)
	}
}

// FuzzConvert holds that no file makes the conversion panic.
func FuzzConvert(f *testing.F) {
	for _, name := range []string{"lists", "steps", "lists-faulty", "sections", "sections-faulty", "operations", "operations-faulty"} {
		raw, err := os.ReadFile(filepath.Join("testdata/forms", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if c, err := generalanot.Convert(raw); err == nil {
			if _, err := generalanot.Marshal(c.Seed); err != nil {
				t.Errorf("%q: %v", raw, err)
			}
		}
	})
}
