package words

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// FindPolicy reads the policy whose text stands somewhere in a longer one,
// such as a prompt.
func FindPolicy(text string) (Policy, bool) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasSuffix(strings.TrimSpace(line), " policy") {
			continue
		}
		for j, end := range lines[i:] {
			if !strings.HasPrefix(end, verdictStart) {
				continue
			}
			if p, err := ReadPolicy(strings.Join(lines[i:i+j+1], "\n")); err == nil {
				return p, true
			}
			break
		}
	}
	return Policy{}, false
}

// ReadPolicy recovers a policy from its text alone. It knows the sentences of
// [Policy.Text], whatever names, values, weights and thresholds they hold;
// errors name the line, from 1.
func ReadPolicy(text string) (Policy, error) {
	r := policyReader{expect: readTitle}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if r.expect == nil {
			return Policy{}, fmt.Errorf("read policy: line %d: text after the verdict", i+1)
		}
		if err := r.expect(&r, line); err != nil {
			return Policy{}, fmt.Errorf("read policy: line %d: %w", i+1, err)
		}
	}
	if r.expect != nil {
		return Policy{}, errors.New("read policy: the text ends before the verdict")
	}
	return r.policy, nil
}

// policyReader reads line by line; expect reads the next one.
type policyReader struct {
	policy Policy
	expect func(*policyReader, string) error
}

const verdictStart = "The verdict is "

func readTitle(r *policyReader, line string) error {
	first, _, ok := strings.Cut(line, " ")
	if !ok || !strings.HasSuffix(line, " policy") {
		return fmt.Errorf("%.80q is no title of a policy", line)
	}
	r.policy.Title, r.policy.Name = line, strings.ToLower(first)
	r.expect = readPurpose
	return nil
}

func readPurpose(r *policyReader, line string) error {
	purpose, ok := strings.CutSuffix(line, evidenceRule)
	if !ok {
		return fmt.Errorf("%.80q does not say what is to be judged", line)
	}
	r.policy.Purpose = purpose
	r.expect = func(r *policyReader, line string) error {
		if line != fieldsIntro {
			return fmt.Errorf("%.80q stands where %q should", line, fieldsIntro)
		}
		r.expect = readField
		return nil
	}
	return nil
}

// readField reads a field, one of its values, or the end of the fields.
func readField(r *policyReader, line string) error {
	if line == termsIntro {
		r.expect = readTerm
		return nil
	}
	entry, isValue := strings.CutPrefix(line, "- ")
	name, meaning, ok := strings.Cut(strings.TrimSuffix(entry, "."), ": ")
	if !ok || !strings.HasSuffix(entry, ".") {
		return fmt.Errorf("%.80q is no field and no value", line)
	}
	if !isValue {
		r.policy.Fields = append(r.policy.Fields, Field{Name: name, Meaning: meaning})
		return nil
	}
	n := len(r.policy.Fields)
	if n == 0 {
		return fmt.Errorf("value %q belongs to no field", name)
	}
	f := &r.policy.Fields[n-1]
	f.Values = append(f.Values, Value{name, meaning})
	return nil
}

// readTerm reads a primitive or the verdict.
func readTerm(r *policyReader, line string) error {
	if strings.HasPrefix(line, verdictStart) {
		r.expect = nil
		return r.readVerdict(line)
	}
	entry, ok := strings.CutPrefix(line, "- ")
	name, formula, is := strings.Cut(strings.TrimSuffix(entry, "."), " is ")
	if !ok || !is || !strings.HasSuffix(entry, ".") || !identifier().MatchString(name) {
		return fmt.Errorf("%.80q is no definition of a value", line)
	}
	f, err := r.readFormula(formula)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.policy.Terms = append(r.policy.Terms, Term{name, f})
	return nil
}

func (r *policyReader) readVerdict(line string) error {
	m := regexp.MustCompile(`^The verdict is "([^"]+)" if (\w+) is less than (\S+), "([^"]+)" if it is at least (\S+) but less than (\S+), and "([^"]+)" if it is at least (\S+)\.$`).FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("%.80q is no verdict of three levels", line)
	}
	low, errLow := amount(m[3])
	high, errHigh := amount(m[6])
	if err := errors.Join(errLow, errHigh); err != nil {
		return err
	}
	if m[5] != m[3] || m[8] != m[6] || !(low < high) {
		return fmt.Errorf("the levels of the verdict leave gaps or overlap")
	}
	r.policy.Verdict = Verdict{m[2], [2]float64{low, high}, [3]string{m[1], m[4], m[7]}}
	return r.known(m[2])
}

// known reports names that no earlier primitive has.
func (r *policyReader) known(names ...string) error {
	for _, name := range names {
		if !slices.ContainsFunc(r.policy.Terms, func(t Term) bool { return t.Name == name }) {
			return fmt.Errorf("%.80q is not defined before", name)
		}
	}
	return nil
}

func identifier() *regexp.Regexp { return regexp.MustCompile(`^[a-z_][a-z0-9_]*$`) }
