package sim

import (
	"fmt"
	"strconv"
	"strings"

	"noema/methods"
)

// version is part of the model's identity: whoever changes what it answers
// changes it.
const version = "1"

// Options are error rates, each a probability. The rate of a single reading that
// is nil is Error; format errors are off unless asked for. The zero value makes no
// errors.
type Options struct {
	Error   float64  `json:"error" default:"0.05" min:"0" max:"1" doc:"probability that an elementary reading goes wrong, for all kinds but format"`
	Extract *float64 `json:"error.extract" min:"0" max:"1" doc:"probability that phase 1 of ANoT misreads or loses a condition"`
	Build   *float64 `json:"error.build" min:"0" max:"1" doc:"probability that phase 2 of ANoT leaves an item out of a step or names a wrong field"`
	Judge   *float64 `json:"error.judge" min:"0" max:"1" doc:"probability that phase 3 of ANoT reverses its verdict on one item and one condition"`
	Rank    *float64 `json:"error.rank" min:"0" max:"1" doc:"probability that the final step of ANoT swaps two neighbours in the ranking"`
	Compile *float64 `json:"error.compile" min:"0" max:"1" doc:"probability that General ANoT misreads one formula of a policy or one condition of a request, or loses it, a field or a value of one"`
	Review  *float64 `json:"error.review" min:"0" max:"1" doc:"probability that General ANoT misreads one field of one review"`
	Plan    *float64 `json:"error.plan" min:"0" max:"1" doc:"probability that a plan misreads or loses one step"`
	Undo    *float64 `json:"error.undo" min:"0" max:"1" doc:"probability that one reservation is forgotten where everything has to be undone: by a plan that does not say how, or by a turn that goes on"`
	Read    *float64 `json:"error.read" min:"0" max:"1" doc:"probability that an answer without a plan misreads one condition on one item, one field of one review or one step of a calculation"`
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

// single is the rate of one kind of reading.
type single struct {
	name string
	kind reading
	rate *float64
}

// singles lists the rates of single readings by name.
func (o Options) singles() []single {
	return []single{
		{"build", build, o.Build}, {"compile", compile, o.Compile}, {"extract", extract, o.Extract}, {"format", format, o.Format}, {"judge", judge, o.Judge},
		{"plan", step, o.Plan}, {"rank", rank, o.Rank}, {"read", read, o.Read}, {"review", label, o.Review}, {"undo", undo, o.Undo},
	}
}

func (o Options) rates() [readings]float64 {
	var rates [readings]float64
	for _, s := range o.singles() {
		switch {
		case s.rate != nil:
			rates[s.kind] = *s.rate
		case s.kind != format:
			rates[s.kind] = o.Error
		}
	}
	return rates
}

// String is the canonical form of the options with the version, as in
// "error=0.05&error.judge=0.1&v=1". Rates that add nothing are left out.
func (o Options) String() string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	parts := []string{"error=" + number(o.Error)}
	for _, s := range o.singles() {
		plain := o.Error
		if s.kind == format {
			plain = 0
		}
		if s.rate != nil && *s.rate != plain {
			parts = append(parts, "error."+s.name+"="+number(*s.rate))
		}
	}
	return strings.Join(append(parts, "v="+version), "&")
}
