package prices

import (
	"errors"

	"noema/kernel/model/provider"
)

// Options are what every model of a server takes: a price of its own.
type Options struct {
	PriceInput  *float64 `json:"price_input" min:"0" max:"1000000" doc:"dollars per million input tokens, instead of what the built-in table and $NOEMA_HOME/prices.yaml say; needs price_output"`
	PriceOutput *float64 `json:"price_output" min:"0" max:"1000000" doc:"dollars per million output tokens; needs price_input"`
}

// Price is the price that the options set, or nil if they set none.
func (o Options) Price() (*provider.Price, error) {
	if o.PriceInput == nil && o.PriceOutput == nil {
		return nil, nil
	}
	if o.PriceInput == nil || o.PriceOutput == nil {
		return nil, errors.New("price_input and price_output need each other: give both, in dollars per million tokens")
	}
	return &provider.Price{Input: perToken(*o.PriceInput), Output: perToken(*o.PriceOutput)}, nil
}
