package arithmetic

import (
	"errors"
	"fmt"
	"math/big"

	"noema/methods/decimal"
)

// Op is an operation on two numbers, named like the tool that does it.
type Op string

// The operations.
const (
	Add      Op = "add"
	Subtract Op = "subtract"
	Multiply Op = "multiply"
	Divide   Op = "divide"
)

// Operand is a number, or the result of an earlier step.
type Operand struct {
	Value string // a decimal; empty if Step is set
	Step  int    // from 1; 0 if it is a number
}

// Step is one operation.
type Step struct {
	Op   Op
	A, B Operand
}

// Story is the computation that a text asks for. Each step is needed by a
// later one, and the last gives the answer.
type Story struct {
	Steps   []Step
	Numbers []string // every number of the text in order, also those that do not matter
	Unit    string   // of the answer, such as "pencils" or "cents"
}

// Value computes the story exactly. A division by zero is an error.
func (s Story) Value() (*big.Rat, error) {
	if len(s.Steps) == 0 {
		return nil, errors.New("compute story: the story has no steps")
	}
	all, err := results(s.Steps)
	if err != nil {
		return nil, err
	}
	return all[len(all)-1], nil
}

// results computes steps one after the other.
func results(steps []Step) ([]*big.Rat, error) {
	all := make([]*big.Rat, 0, len(steps))
	for _, step := range steps {
		a, err := step.A.value(all)
		if err != nil {
			return nil, err
		}
		b, err := step.B.value(all)
		if err != nil {
			return nil, err
		}
		r, err := step.Op.apply(a, b)
		if err != nil {
			return nil, fmt.Errorf("compute story: %w", err)
		}
		all = append(all, r)
	}
	return all, nil
}

// value is an operand's value after some steps.
func (o Operand) value(after []*big.Rat) (*big.Rat, error) {
	if o.Step == 0 {
		return decimal.Parse(o.Value)
	}
	if o.Step < 1 || o.Step > len(after) {
		return nil, fmt.Errorf("compute story: step %d is used before it is done", o.Step)
	}
	return after[o.Step-1], nil
}

// Answer is the value as a decimal, rounded if it is not finite.
func (s Story) Answer() (string, error) {
	r, err := s.Value()
	if err != nil {
		return "", err
	}
	text, _ := decimal.Format(r)
	return text, nil
}

func (o Op) apply(a, b *big.Rat) (*big.Rat, error) {
	r := new(big.Rat)
	switch o {
	case Add:
		return r.Add(a, b), nil
	case Subtract:
		return r.Sub(a, b), nil
	case Multiply:
		return r.Mul(a, b), nil
	case Divide:
		if b.Sign() == 0 {
			return nil, errors.New("division by zero")
		}
		return r.Quo(a, b), nil
	}
	return nil, fmt.Errorf("unknown operation %q", o)
}

// holding is who has how many of what.
type holding struct{ who, thing string }

// book is what people have after the facts so far.
type book struct {
	steps   []Step
	has     map[holding]Operand
	entered []entry
}

// entry is what somebody had at some time.
type entry struct {
	holding
	amount Operand
}

// set enters what somebody has.
func (b *book) set(h holding, amount Operand) {
	b.has[h] = amount
	b.entered = append(b.entered, entry{h, amount})
}

// tell follows the facts of a story up to its question, and returns the answer.
func (b *book) tell(facts []Fact) (Operand, error) {
	for i, f := range facts {
		if f.Kind.IsQuestion() {
			if i != len(facts)-1 {
				return Operand{}, errors.New("the question does not come last")
			}
			return b.ask(f)
		}
		if err := b.enter(f); err != nil {
			return Operand{}, err
		}
	}
	return Operand{}, errors.New("the story has no question")
}

// compile turns facts into a computation.
func compile(facts []Fact) (Story, error) {
	b := book{has: map[holding]Operand{}}
	result, err := b.tell(facts)
	if err != nil {
		return Story{}, err
	}
	return Story{Steps: needed(b.steps, result.Step), Unit: unitOf(facts[len(facts)-1])}, nil
}

func value(n string) Operand { return Operand{Value: n} }

// do appends a step and returns its result.
func (b *book) do(op Op, x, y Operand) Operand {
	b.steps = append(b.steps, Step{op, x, y})
	return Operand{Step: len(b.steps)}
}

// gain adds to a holding, which may be new.
func (b *book) gain(h holding, more Operand) {
	if have, ok := b.has[h]; ok {
		more = b.do(Add, have, more)
	}
	b.set(h, more)
}

// of is what somebody has.
func (b *book) of(who, thing string) (Operand, error) {
	o, ok := b.has[holding{who, thing}]
	if !ok {
		return o, fmt.Errorf("the story does not say how many %s %s has", thing, who)
	}
	return o, nil
}

// enter follows a fact.
func (b *book) enter(f Fact) error {
	h, cash := holding{f.Who, f.Thing}, holding{f.Who, Dollars}
	switch f.Kind {
	case Noise:
	case Have:
		b.set(h, value(f.N))
	case Gain:
		b.gain(h, value(f.N))
	case Packs, Work, Ride:
		b.gain(h, b.do(Multiply, value(f.N), value(f.M)))
	case Lose, Give:
		have, err := b.of(f.Who, f.Thing)
		if err != nil {
			return err
		}
		b.set(h, b.do(Subtract, have, value(f.N)))
		if f.Kind == Give {
			b.gain(holding{f.Whom, f.Thing}, value(f.N))
		}
	case Sell:
		have, err := b.of(f.Who, f.Thing)
		if err != nil {
			return err
		}
		delete(b.has, h)
		b.gain(cash, b.do(Multiply, have, value(f.N)))
	case Buy:
		have, err := b.of(f.Who, Dollars)
		if err != nil {
			return err
		}
		b.set(cash, b.do(Subtract, have, b.do(Multiply, value(f.N), value(f.M))))
	default:
		return b.compare(f)
	}
	return nil
}

// compare follows a fact that tells one holding by another.
func (b *book) compare(f Fact) error {
	other, err := b.of(f.Whom, f.Thing)
	if err != nil {
		return err
	}
	ops := map[Kind]Op{Times: Multiply, More: Add, Fewer: Subtract, Half: Divide}
	op, ok := ops[f.Kind]
	if !ok {
		return fmt.Errorf("unknown fact %q", f.Kind)
	}
	n := value(f.N)
	if f.Kind == Half {
		n = value("2")
	}
	b.set(holding{f.Who, f.Thing}, b.do(op, other, n))
	return nil
}

// ask follows the question.
func (b *book) ask(f Fact) (Operand, error) {
	result, err := b.of(f.Who, f.Thing)
	if err != nil {
		return result, err
	}
	heads := 1
	for _, who := range []string{f.Whom, f.Third} {
		if who == "" {
			continue
		}
		other, err := b.of(who, f.Thing)
		if err != nil {
			return result, err
		}
		op := Add
		if f.Kind == AskDiff {
			op = Subtract
		}
		result = b.do(op, result, other)
		heads++
	}
	switch f.Kind {
	case AskSplit:
		result = b.do(Divide, result, value(f.N))
	case AskMean:
		result = b.do(Divide, result, value(fmt.Sprint(heads)))
	case AskSmall:
		factor := map[string]string{"cents": "100", "metres": "1000"}[unitOf(f)]
		result = b.do(Multiply, result, value(factor))
	}
	if result.Step == 0 {
		return result, errors.New("the story has nothing to compute")
	}
	return result, nil
}

// unitOf is the unit of the answer to a question.
func unitOf(f Fact) string {
	if small := map[string]string{Dollars: "cents", Kilometres: "metres"}[f.Thing]; f.Kind == AskSmall && small != "" {
		return small
	}
	return f.Thing
}

// needed keeps the steps that lead to the one numbered last, renumbered.
func needed(steps []Step, last int) []Step {
	use := make([]bool, last+1)
	use[last] = true
	for i := last; i >= 1; i-- {
		if use[i] {
			use[steps[i-1].A.Step], use[steps[i-1].B.Step] = true, true
		}
	}
	number := make([]int, last+1)
	var kept []Step
	for i := 1; i <= last; i++ {
		if use[i] {
			step := steps[i-1]
			step.A.Step, step.B.Step = number[step.A.Step], number[step.B.Step]
			kept = append(kept, step)
			number[i] = len(kept)
		}
	}
	return kept
}
