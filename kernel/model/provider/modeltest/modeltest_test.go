package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/modeltest"
	"noema/kernel/model/provider/openai"
	"noema/kernel/run/gateway"
	"noema/methods"
)

// open makes a model that retries as a gateway does.
func open(t *testing.T, c providertest.Config) methods.Model {
	t.Helper()
	c.Protocol = providertest.Chat
	s := providertest.New(c)
	t.Cleanup(s.Close)
	p, err := openai.New(exchange.Config{Model: "m", BaseURL: s.URL(), APIKey: "k", IdleTimeout: 5 * time.Second}, openai.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	g, err := gateway.New(gateway.Options{Provider: p, Mode: gateway.Off, Retry: gateway.Retry{Attempts: 3, Base: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	return g.Host(gateway.Trial{Method: "model test"})
}

// able is a model that does all that it is asked.
func able(a providertest.Ask) providertest.Answer {
	switch {
	case a.Schema:
		return providertest.Answer{Text: `{"colour":"qx-17","count":1}`}
	case len(a.Results) > 0:
		return providertest.Answer{Text: "It reads 48,213."}
	case len(a.Tools) > 0:
		return providertest.Answer{Calls: []providertest.Call{{Name: "read_gauge", Arguments: `{"gauge":"K7"}`}}}
	case strings.Contains(a.Prompt, "Count"):
		return providertest.Answer{Text: "1 2 3 4 "}
	case strings.Contains(a.Prompt, "essay"):
		return providertest.Answer{Text: "The sea", Truncated: true, Output: 16}
	case strings.Contains(a.Prompt, "Invent"):
		return providertest.Answer{Text: fmt.Sprint("sentence ", a.Seed)}
	}
	return providertest.Answer{Text: "noema", Tokens: []providertest.Token{{Text: "no", Logprob: -1}, {Text: "ema", Logprob: -0.5}}}
}

// wilful is a model that does nothing of it.
func wilful(a providertest.Ask) providertest.Answer {
	text := "5 no"
	if strings.Contains(a.Prompt, "Invent") {
		text = fmt.Sprint("thought ", a.Number)
	}
	if strings.Contains(a.Prompt, "essay") {
		text = strings.Repeat("long ", 200)
	}
	return providertest.Answer{Text: text, Output: 99}
}

func outcomes(rows []modeltest.Row) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.Check+" "+string(r.Outcome))
	}
	return strings.Join(all, "; ")
}

func TestModels(t *testing.T) {
	cases := map[string]struct {
		config providertest.Config
		want   string
	}{
		"able": {
			providertest.Config{Answer: able, Limit: 1 << 20},
			"plain reply yes; tokens counted yes; seed repeats yes; draws differ yes; stop strings yes; limit of tokens yes; " +
				"schema yes; tool call yes; tool result yes; logprobs yes; context length yes",
		},
		"wilful": {
			providertest.Config{Answer: wilful},
			"plain reply unclear; tokens counted yes; seed repeats no; draws differ yes; stop strings no; limit of tokens no; " +
				"schema no; tool call no; tool result skipped; logprobs no; context length no",
		},
		"always the same, counts nothing": {
			providertest.Config{Fault: func(providertest.Ask) providertest.Fault { return providertest.WrongUsage }},
			"plain reply unclear; tokens counted no; seed repeats yes; draws differ no; stop strings unclear; limit of tokens unclear; " +
				"schema no; tool call no; tool result skipped; logprobs no; context length no",
		},
		"bad days": {
			providertest.Config{Answer: able, Limit: 1 << 20, Fault: func(a providertest.Ask) providertest.Fault {
				if a.Number%3 != 0 {
					return providertest.ServerError
				}
				return providertest.None
			}},
			"plain reply yes; tokens counted yes; seed repeats yes; draws differ yes; stop strings yes; limit of tokens yes; " +
				"schema yes; tool call yes; tool result yes; logprobs yes; context length yes",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rows, err := modeltest.Test(t.Context(), open(t, c.config), openai.Service().Features[0])
			if got := outcomes(rows); err != nil || got != c.want {
				t.Errorf("got  %s (%v)\nwant %s\n%+v", got, err, c.want, rows)
			}
			if rows[2].Claimed != provider.BestEffort || strings.Contains(rows[0].Detail, "\n") {
				t.Errorf("%+v", rows[2])
			}
		})
	}
}

// A model that cannot be used has no features, but a reason.
func TestUnusable(t *testing.T) {
	rows, err := modeltest.Test(t.Context(), open(t, providertest.Config{Key: "another"}), provider.Features{})
	var e *provider.Error
	if len(rows) != 0 || !errors.As(err, &e) || e.Kind != provider.Unauthorized {
		t.Errorf("%v, %v, want an error of the kind unauthorized alone", rows, err)
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if rows, err := modeltest.Test(ctx, open(t, providertest.Config{}), provider.Features{}); !errors.Is(err, context.Canceled) || len(rows) != 0 {
		t.Errorf("%v, %v", rows, err)
	}
}
