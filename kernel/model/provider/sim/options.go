package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
)

// version is part of the model's identity: whoever changes what it answers
// changes it.
const version = "2" // errors go by the step, not by the method; articles are read by the sections that a prompt shows

// Options are error rates, each a probability. The rate of a single reading that
// is nil is Error; format errors are off unless asked for. The zero value makes no
// errors.
type Options struct {
	Error   float64  `json:"error" default:"0.05" min:"0" max:"1" doc:"probability that an elementary reading goes wrong, for all kinds but format"`
	Request *float64 `json:"error.request" min:"0" max:"1" doc:"probability that one condition, formula, step, hop or other fact of what is asked for is misread or lost"`
	Judge   *float64 `json:"error.judge" min:"0" max:"1" doc:"probability that one value is misjudged against one condition, one field of one text misread, or one reservation overlooked"`
	Compute *float64 `json:"error.compute" min:"0" max:"1" doc:"probability that one value that is worked out without a machine is off, or two neighbours of a ranking change places"`
	Write   *float64 `json:"error.write" min:"0" max:"1" doc:"probability that one step of what is written for a machine is wrong: a step of an LWT, a formula, an atom, a planned call"`
	Format  *float64 `json:"error.format" default:"0" min:"0" max:"1" doc:"probability that a reply is prose without an answer"`
}

// ParseOptions reads options by name. The option v is the version of the model,
// which recorded options have.
func ParseOptions(given map[string]string) (o Options, err error) {
	rest := map[string]string{}
	for name, value := range given {
		if name != "v" {
			rest[name] = value
		} else if value != version {
			return o, fmt.Errorf("sim: the options are of version %q of the simulated model, this build has version %s", value, version)
		}
	}
	if err := methods.ParseOptions(rest, &o); err != nil {
		return o, fmt.Errorf("sim: %w", err)
	}
	return o, nil
}

// singles are the rates of single readings, nil where Error is meant.
func (o Options) singles() [latency]*float64 {
	return [...]*float64{request: o.Request, judge: o.Judge, compute: o.Compute, write: o.Write, format: o.Format}
}

func (o Options) rates() [readings]float64 {
	var rates [readings]float64
	for kind, rate := range o.singles() {
		switch {
		case rate != nil:
			rates[kind] = *rate
		case reading(kind) != format:
			rates[kind] = o.Error
		}
	}
	return rates
}

// String is the canonical form of the options with the version, as in
// "error=0.05&error.judge=0.1&v=2". Rates that add nothing are left out.
func (o Options) String() string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	parts := []string{"error=" + number(o.Error)}
	names := [...]string{request: "request", judge: "judge", compute: "compute", write: "write", format: "format"}
	for kind, rate := range o.singles() {
		plain := o.Error
		if reading(kind) == format {
			plain = 0
		}
		if rate != nil && *rate != plain {
			parts = append(parts, "error."+names[kind]+"="+number(*rate))
		}
	}
	slices.Sort(parts[1:])
	return strings.Join(append(parts, "v="+version), "&")
}
