package cache_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"noema/cache"
	"noema/methods"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := cache.Open(ctx, dir, cache.Options{})
	if err != nil {
		panic(err)
	}
	defer store.Close()

	model := methods.ModelID{Provider: "openai", Model: "gpt-5-nano"}
	request := methods.Request{Messages: methods.Ask("What is 2+2?"), Path: "c1"}
	key := cache.CompletionKey(model, 0, request)
	if _, err := store.Completion(ctx, key); errors.Is(err, cache.ErrNotFound) {
		answer := cache.CompletionRecord{Completion: methods.Completion{Text: "4", Finish: methods.FinishStop}}
		if _, err := store.AddCompletion(ctx, key, request, model, answer); err != nil {
			panic(err)
		}
	}

	request.Path = "another/place" // is not part of the question
	hit, err := store.Completion(ctx, cache.CompletionKey(model, 0, request))
	fmt.Println(hit.Completion.Text, err)
	// Output: 4 <nil>
}
