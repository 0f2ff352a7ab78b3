package generalanot

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"noema/methods"
	"noema/methods/reply"
)

// Agreed is the kind of the events that say how far passes of extraction agree.
const Agreed methods.EventKind = "agreement"

// passPath is the call path of a pass over a review. The first has that of a
// trial with one pass, and its prompt: the two share an answer.
func passPath(r Review, pass int) string {
	if pass == 0 {
		return extractPath(r)
	}
	return extractPath(r) + "/p" + strconv.Itoa(pass+1)
}

// reconcile makes one extraction of the passes over each review. A pass without
// a usable reply has no vote; a review is lost if all its passes are. One of
// whose passes the provider lost some is kept with the votes of the others, but
// counts as lost, too: the answer would be another without the failure. Errors
// that end the trial are returned.
func (t *trial) reconcile(s *FormulaSeed, relevant []Review, results []Extraction, errs []error) ([]Extraction, []error, error) {
	passes := len(results) / max(1, len(relevant))
	joined, lost := make([]Extraction, len(relevant)), make([]error, len(relevant))
	for i, r := range relevant {
		var votes []map[string]any
		var failed, unread error
		for pass := range passes {
			at := i*passes + pass
			switch err := errs[at]; {
			case err == nil:
				votes = append(votes, results[at].Fields)
				continue
			case isFatal(err):
				return nil, nil, err
			case errors.Is(err, reply.ErrInvalid):
				unread = cmp.Or(unread, err)
			default:
				failed = cmp.Or(failed, err)
			}
			t.emit(passPath(r, pass), methods.Dropped, 1, nil, "pass %d of %d has no vote: %v", pass+1, passes, errs[at])
		}
		lost[i] = failed
		if len(votes) == 0 {
			lost[i] = cmp.Or(failed, unread)
			continue
		}
		joined[i] = results[i*passes]
		joined[i].Fields, joined[i].agreement = majority(s.ExtractionFields, votes)
		t.emit(extractPath(r), Agreed, 2, map[string]any{"values": joined[i].Fields, "agreement": joined[i].agreement, "passes": len(votes)},
			"%d passes: %s", len(votes), joined[i].text(s.ExtractionFields))
	}
	return joined, lost, nil
}

// majority decides each field by the values that most passes read. Of several
// such values, that of the earliest pass wins: the first pass is the greedy
// one. The agreement is the share of the passes that read the value.
func majority(fields []ExtractionField, votes []map[string]any) (values map[string]any, agreement map[string]float64) {
	values, agreement = map[string]any{}, map[string]float64{}
	for _, f := range fields {
		count := map[string]int{}
		for _, v := range votes {
			count[string(plainJSON(v[f.Name]))]++
		}
		most := 0
		for _, v := range votes {
			if n := count[string(plainJSON(v[f.Name]))]; n > most {
				most, values[f.Name] = n, v[f.Name]
			}
		}
		agreement[f.Name] = float64(most) / float64(len(votes))
	}
	return values, agreement
}

// fieldAgreement is how far the passes agree on a field: the mean share of the
// passes that read the value that was kept, over the reviews.
type fieldAgreement struct {
	Field   string  `json:"field"`
	Share   float64 `json:"agreement"`
	Reviews int     `json:"reviews"`
}

func agreements(fields []ExtractionField, list []Extraction) []fieldAgreement {
	var all []fieldAgreement
	for _, f := range fields {
		a := fieldAgreement{Field: f.Name}
		sum := 0.0
		for _, e := range list {
			if share, ok := e.agreement[f.Name]; ok {
				sum += share
				a.Reviews++
			}
		}
		if a.Reviews > 0 {
			a.Share = sum / float64(a.Reviews)
			all = append(all, a)
		}
	}
	return all
}

// agreed tells how far the passes agree, and is the evidence for it.
func (t *trial) agreed(s *FormulaSeed, list []Extraction) []methods.Evidence {
	all := agreements(s.ExtractionFields, list)
	if len(all) == 0 {
		return nil
	}
	t.emit(phaseExtract, Agreed, 1, all, "%d passes over %d reviews", t.opts.Passes, len(list))
	evidence := make([]methods.Evidence, len(all))
	for i, a := range all {
		evidence[i] = methods.Evidence{
			Source: phaseExtract + "/agreement/" + a.Field,
			Text:   fmt.Sprintf("%.2f of %d passes agree on %s, over %d reviews", a.Share, t.opts.Passes, a.Field, a.Reviews),
		}
	}
	return evidence
}
