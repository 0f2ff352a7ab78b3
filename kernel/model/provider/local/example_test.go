package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local"
	"noema/methods"
)

// A model of random weights writes noise, but noise that the schema allows,
// and the same noise each time.
func Example() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := localtest.WriteCheckpoint(dir, "qwen3", 1); err != nil {
		log.Fatal(err)
	}
	model, err := local.New(dir, local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	request := methods.Request{
		Messages: methods.Ask("Which are true? Output:"),
		Sampling: methods.Sampling{Temperature: 1, Seed: 7, MaxTokens: 40},
		Schema:   &methods.Schema{Name: "true", JSON: json.RawMessage(`{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2}`)},
	}
	first, err := model.Complete(context.Background(), request)
	if err != nil {
		log.Fatal(err)
	}
	again, err := model.Complete(context.Background(), request)
	if err != nil {
		log.Fatal(err)
	}
	var answer []bool
	if err := json.Unmarshal([]byte(first.Text), &answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(answer), first.Text == again.Text, first.Finish)
	// Output: 2 true stop
}
