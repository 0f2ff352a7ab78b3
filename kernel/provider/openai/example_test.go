package openai_test

import (
	"context"
	"fmt"

	"noema/kernel/provider/openai"
	"noema/kernel/provider/openai/openaitest"
	"noema/methods"
)

// A server of one's own needs no key, and has no list price.
func Example() {
	server := openaitest.NewServer(openaitest.Config{
		Reply: func(r openaitest.Request) openaitest.Reply { return openaitest.Reply{Text: "You said: " + r.Prompt()} },
	})
	defer server.Close()

	p, err := openai.New(openai.Config{Model: "tiny", BaseURL: server.URL()})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := p.Complete(context.Background(), methods.Request{Messages: methods.Ask("hello")})
	fmt.Println(c.Text, c.Usage.Unpriced, err)
	// Output: You said: hello 1 <nil>
}
