// Package arithmetic is the task of solving word problems with tools. It
// exists because planning methods need problems whose right answer is beyond
// doubt, whose difficulty is graded and whose operations can be delegated:
// [New] makes them from a seed, [LoadGSM8K] and [LoadGame24] read public data
// of the same kind.
//
// A problem is a story said in varied English, and a question
// for one number. The right answer is computed while the story is made, in
// exact fractions, and is a finite decimal.
//
//	level  operations  people  what is new
//	L1     1–2         1–2     counting, packs, sharing, wages
//	L2     2–3         1–2     a number that does not matter
//	L3     3–5         2–3     how many more, fewer, times, half; averages
//	L4     4–6         1–2     rates, prices, decimals, smaller units; two numbers that do not matter
//	L5     6–8         2–3     all of it, with gifts from one to another; two or three numbers that do not matter
//
// The environment offers the operations as pure tools over exact decimals.
// Division by zero is an answer that a wrong plan gets, not one that a right
// plan needs: every problem from level 3 that divides also mentions a 0 that
// does not matter, so that a reader who takes the wrong number for the divisor
// meets it. The tool then returns an error result.
package arithmetic

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"noema/kernel/task"
	"noema/methods"
)

// Name is the task's name.
const Name = "arithmetic"

// version changes whenever the same options give other samples, or the tools
// other results.
const version = "1"

// New generates the task. The same options always give the same samples, and a
// larger N only adds to those of a smaller one.
func New(o Options) (*task.Task, error) {
	if err := methods.ParseOptions(nil, &o); err != nil {
		return nil, fmt.Errorf("generate arithmetic: %w", err)
	}
	t := &task.Task{
		Name:        Name,
		Version:     version,
		Summary:     "word problems with one number as the answer (generated, five levels)",
		Config:      o.String(),
		Source:      "generated",
		Notes:       []string{"fictional stories; answers are exact decimals, and a rounded one is wrong"},
		Environment: Environment{},
	}
	for i := range o.N {
		level, number := o.Level, i+1
		if level == 0 {
			level, number = i%levels+1, i/levels+1
		}
		s, err := sample(o.Seed, level, number)
		if err != nil {
			return nil, fmt.Errorf("generate arithmetic: %w", err)
		}
		t.Samples = append(t.Samples, s)
	}
	return t, nil
}

// maxTries bounds how often a story is drawn anew until its numbers fit.
const maxTries = 10_000

// sample makes one problem. Its random numbers depend on nothing but the
// arguments.
func sample(seed uint64, level, number int) (task.Sample, error) {
	rng := rand.New(rand.NewPCG(seed, uint64(level)<<32+uint64(number)))
	for range maxTries {
		d := newDraw(rng)
		plot := plots(level)[rng.IntN(len(plots(level)))]
		facts := plot(d)
		result, err := reckon(facts)
		if err != nil || result.operations < limits[level].least || result.operations > limits[level].most {
			continue
		}
		noise := d.distract(&facts, level, result.divides)
		query, err := Render(facts, rng)
		if err != nil {
			return task.Sample{}, err
		}
		return task.Sample{
			ID:      fmt.Sprintf("L%d-%03d", level, number),
			Group:   fmt.Sprintf("L%d", level),
			Problem: methods.Problem{Query: query, Answer: methods.AnswerSpec{Kind: methods.Number}},
			Target:  []byte(result.answer),
			Metadata: map[string]string{
				"operations":  strconv.Itoa(result.operations),
				"distractors": strconv.Itoa(noise),
			},
		}, nil
	}
	return task.Sample{}, fmt.Errorf("level %d, problem %d: no numbers fit after %d tries", level, number, maxTries)
}

// limits are the operations that a problem of each level takes, and the
// distractors added to it.
var limits = [levels + 1]struct{ least, most, noiseLeast, noiseMost int }{
	1: {1, 2, 0, 0}, 2: {2, 3, 1, 1}, 3: {3, 5, 1, 2}, 4: {4, 6, 2, 2}, 5: {6, 8, 2, 3},
}

const levels = 5

// Options choose a generated task. The zero value is the default task.
type Options struct {
	N     int    `json:"n" default:"100" min:"1" max:"10000" doc:"how many problems, spread evenly over the levels"`
	Level int    `json:"level" default:"0" choices:"0,1,2,3,4,5" doc:"how hard: 1 to 5, or 0 for all levels"`
	Seed  uint64 `json:"seed" default:"0" doc:"seed of the problems"`
}

// String is the options in the form of Task.Config.
func (o Options) String() string {
	return fmt.Sprintf("level=%d&n=%d&seed=%d", o.Level, o.N, o.Seed)
}
