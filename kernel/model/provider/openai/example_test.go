package openai_test

import (
	"context"
	"fmt"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/openai"
	"noema/methods"
)

// A server of one's own needs no key, and has no list price.
func Example() {
	server := providertest.New(providertest.Config{
		Answer: func(a providertest.Ask) providertest.Answer {
			return providertest.Answer{Text: "You said: " + a.Prompt}
		},
	})
	defer server.Close()

	p, err := openai.New(exchange.Config{Model: "tiny", BaseURL: server.URL()}, openai.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := p.Complete(context.Background(), methods.Request{Messages: methods.Ask("hello")})
	fmt.Println(c.Text, c.Usage.Unpriced, err)
	// Output: You said: hello 1 <nil>
}
