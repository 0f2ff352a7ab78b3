// Real-model compares ways to ask a language model of 135 million parameters:
// with and without reasoning, with one chain of thought and a majority of several,
// with and without constrained decoding, and by the likelihood of a label.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	. "noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/methods/reply"
)

// maxTokens bounds a reply: this model often goes on until it is stopped.
const maxTokens = 128

// kinds are what the words of the choice task name.
var kinds = []struct{ name, words string }{
	{"an animal", "horse rabbit tiger whale eagle spider donkey lizard"},
	{"a fruit", "apple banana cherry grape lemon peach plum melon"},
	{"a tool", "hammer saw drill shovel wrench chisel pliers axe"},
	{"a color", "purple yellow green orange pink brown gray violet"},
	{"a country", "Norway Brazil Egypt Japan Canada Kenya Peru Spain"},
	{"a job", "nurse teacher farmer pilot lawyer baker plumber judge"},
}

// question asks which of four words is of a kind. The same number gives the same
// question.
func question(number int) Sample {
	rng := rand.New(rand.NewPCG(1, uint64(number)))
	var labels []string
	chosen := rng.Perm(len(kinds))[:4]
	for _, k := range chosen {
		words := strings.Fields(kinds[k].words)
		labels = append(labels, words[rng.IntN(len(words))])
	}
	right := rng.IntN(len(labels))
	s := Pick("Which of these words names "+kinds[chosen[right]].name+"?", labels[right], labels...)
	s.ID = fmt.Sprintf("W%03d", number)
	return s
}

// Free is direct without a schema, so that nothing constrains the reply.
func Free(ctx context.Context, p Problem, h Host) (Answer, error) {
	prompt, form := p.Query+"\n\n", "number"
	if p.Answer.Kind == Choice {
		prompt += `Choose one of these labels: "` + strings.Join(p.Answer.Labels, `", "`) + "\".\n"
		form = `"label"`
	}
	prompt += `Reply with one JSON object only: {"answer": ` + form + "}\n"
	req := Request{Path: "answer", Messages: []Message{{Role: User, Content: prompt}}, Sampling: Sampling{MaxTokens: maxTokens}}
	r, err := reply.Final(ctx, h, req, p.Answer, reply.ObjectForm, reply.Options{Retries: reply.DefaultRetries})
	if errors.Is(err, reply.ErrInvalid) {
		return NoAnswer(err.Error()), nil
	}
	return r.Answer, err
}

// numbers are the first n samples of arithmetic, by turns of level 1 and 2.
func numbers(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("L%d-%03d", i%2+1, i/2+1))
	}
	return ids
}

func main() {
	model, n, draws := "local/smollm2", 100, []string{"1", "3", "5", "9"}
	if len(os.Args) > 1 {
		model = os.Args[1]
	}
	if len(os.Args) > 2 {
		n, _ = strconv.Atoi(os.Args[2]) // of 0 samples the lab says what is wrong
		draws = os.Args[3:]
	}
	lab := builtin.Open()
	defer lab.Close()

	if err := lab.AddMethod("free", Free, Number, Choice); err != nil {
		log.Fatal(err)
	}
	var questions []Sample
	for i := range n {
		questions = append(questions, question(i+1))
	}
	words, err := NewTask("words", questions...)
	if err != nil {
		log.Fatal(err)
	}
	if err := lab.AddTask(words); err != nil {
		log.Fatal(err)
	}
	methods := []string{"direct", "free", "cot"}
	for _, d := range draws {
		methods = append(methods, "self-consistency?draws="+d)
	}
	for _, e := range []Experiment{
		{Task: "arithmetic?n=250", SampleIDs: numbers(n), Methods: methods},
		{Task: "words", Methods: append(methods, "direct?by=likelihood")},
	} {
		e.Question, e.Model = "What helps a small language model?", model
		e.MethodOptions = map[string]string{"max_tokens": strconv.Itoa(maxTokens)}
		result, err := lab.Run(e)
		if err != nil {
			log.Fatal(err)
		}
		lab.Show(result)
	}
}
