package pyexpr

import (
	"strings"
	"testing"
)

// documentFormulas are the formulas of the design documents of General ANoT,
// with what they give over documentEnv.
const documentFormulas = `
sum(1 for e in extractions if e['incident_severity']=='mild' and e['account_type']=='firsthand') -> 2
sum(1 for e in extractions if e['incident_severity']=='severe' and e['account_type']=='firsthand') -> 1
n_mild + n_moderate + n_severe -> 4
n_mild * 2 + n_moderate * 5 + n_severe * 15 -> 24
max(0.0, min(20.0, raw_risk)) -> 20.0
'Low Risk' if final_risk_score < 4 else ('High Risk' if final_risk_score < 8 else 'Critical Risk') -> 'High Risk'
sum(1 for e in extractions if e['review_validity']=='valid' and e['account_type']=='firsthand') -> 2
a + b * c -> 7
'Low' if x < 4 else 'High' -> 'Low'
sum(1 for e in list if cond) -> 3
max(a, b) -> 2
len(list) -> 3
a and b or c -> 2
`

const documentEnv = `{'extractions': [
	{'incident_severity': 'mild', 'account_type': 'firsthand', 'review_validity': 'valid'},
	{'incident_severity': 'mild', 'account_type': 'firsthand', 'review_validity': 'spam'},
	{'incident_severity': 'severe', 'account_type': 'firsthand', 'review_validity': 'valid'},
	{'incident_severity': 'mild', 'account_type': 'hypothetical', 'review_validity': 'valid'}],
	'n_mild': 2, 'n_moderate': 1, 'n_severe': 1, 'raw_risk': 31.5, 'final_risk_score': 6.5,
	'a': 1, 'b': 2, 'c': 3, 'x': 1, 'list': [1, 2, 3], 'cond': True}`

func TestDocumentFormulas(t *testing.T) {
	v, err := compile(t, documentEnv).Eval(t.Context(), nil, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]Value{}
	for _, e := range v.(*Dict).entries {
		env[string(e.key.(Str))] = e.val
	}
	for line := range strings.SplitSeq(strings.TrimSpace(documentFormulas), "\n") {
		src, want, _ := strings.Cut(line, " -> ")
		if got := outcome(src, env); got != [2]string{want, ""} {
			t.Errorf("%s: %q, want %s", src, got, want)
		}
	}
	for _, src := range []string{"a = b", "if x < 4: return 'Low'", "for e in list:", "def f(x):", "import x"} {
		if _, err := Compile(src); err == nil {
			t.Errorf("%s: a statement compiles", src)
		}
	}
}
