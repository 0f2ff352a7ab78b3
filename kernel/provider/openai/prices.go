package openai

import (
	_ "embed"
	"encoding/json"
	"math"
	"regexp"

	"noema/kernel/provider"
	"noema/methods"
)

// pricesJSON is the table of list prices, with its source and date.
//
//go:embed prices.json
var pricesJSON []byte

// dated matches the date that ends the name of a fixed version of a model.
var dated = regexp.MustCompile(`-\d{4}-\d{2}-\d{2}$`)

// Price is the list price of a model of OpenAI's own, or nil if the built-in
// table does not have it. A dated name costs what its model does unless the
// table says otherwise. Discounts for cached input and surcharges for very
// long prompts are not in it.
func Price(model string) *provider.Price {
	var table struct{ Models map[string][2]float64 }
	if err := json.Unmarshal(pricesJSON, &table); err != nil { // embedded, and covered by a test
		panic(err)
	}
	perMillion, ok := table.Models[model]
	if !ok {
		if perMillion, ok = table.Models[dated.ReplaceAllString(model, "")]; !ok {
			return nil
		}
	}
	return &provider.Price{Input: perToken(perMillion[0]), Output: perToken(perMillion[1])}
}

// perToken turns dollars per million tokens into nano-dollars per token.
func perToken(usdPerMillion float64) methods.NanoUSD {
	return methods.NanoUSD(math.Round(usdPerMillion * 1000))
}
