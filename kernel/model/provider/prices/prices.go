// Package prices is the table of what models cost: one data file for all
// providers, with its date and source, and over it the user's own file, for
// prices that have changed, contracts, and servers with a price of their own. A
// price that neither has is unknown, which is not 0.
package prices

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/model/provider"
	"noema/methods"
)

//go:embed prices.yaml
var builtin []byte

// Tariff is what a model charges. A nil Price is an unknown one.
type Tariff struct {
	Price *provider.Price
	UpTo  int64 // the longest prompt, in tokens, that Price is for; 0 means no limit
}

// Cost is the price of one call; the second result is false if it is unknown.
func (t Tariff) Cost(u methods.Usage) (methods.NanoUSD, bool) {
	if t.UpTo > 0 && u.InputTokens > t.UpTo {
		return 0, false
	}
	return t.Price.Cost(u)
}

// Table holds prices. It does not change once made.
type Table struct {
	tariffs map[string]map[string]Tariff // by provider and model
	own     *Table                       // the user's entries alone; nil if there are none
}

// Builtin is the table that comes with the program.
func Builtin() *Table {
	return methods.Must(parse(builtin, nil)) // embedded, and covered by a test
}

// Load is the built-in table with the entries of the user's file over it. The
// file has the same form, in YAML or JSON: providers, below them models with
// [input, output] in US dollars per million tokens, and optionally the longest
// prompt that the price is for. The long form is {input, output, cached_input,
// cache_write, longest}, of which the last three are optional: without them,
// input that the provider read from its cache, or wrote to it, is charged as
// other input. A model that is null has no known price. A missing file counts as
// empty; kinds are the providers that the file may name.
func Load(path string, kinds []string) (*Table, error) {
	t := Builtin()
	raw, err := files.Read(path, files.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	own, err := parse(raw, kinds)
	if err != nil {
		return nil, fmt.Errorf("read prices: %s: %w", path, err)
	}
	for kind, models := range own.tariffs {
		if t.tariffs[kind] == nil {
			t.tariffs[kind] = map[string]Tariff{}
		}
		for model, tariff := range models {
			t.tariffs[kind][model] = tariff
		}
	}
	t.own = own
	return t, nil
}

// version matches what names a fixed or the newest version of a model, such as
// -2025-08-07, -20250514, -001 and -latest.
var version = regexp.MustCompile(`(-\d{4}-\d{2}-\d{2}|-\d{8}|-\d{3}|-latest)$`)

// Tariff is what a provider's model charges. A version costs what its model
// does unless the table says otherwise.
func (t *Table) Tariff(kind, model string) Tariff {
	models := t.tariffs[kind]
	if tariff, ok := models[model]; ok {
		return tariff
	}
	model = strings.TrimPrefix(model, "models/")
	if tariff, ok := models[model]; ok {
		return tariff
	}
	return models[version.ReplaceAllString(model, "")]
}

// At is what a provider's model charges at an endpoint, which is empty for the
// provider's own server. List prices are not those of another server that
// speaks its protocol; what the user wrote down counts wherever it is.
func (t *Table) At(kind, endpoint, model string) Tariff {
	switch {
	case t == nil && endpoint != "":
		return Tariff{}
	case t == nil:
		t = Builtin()
	case endpoint != "" && t.own == nil:
		return Tariff{}
	case endpoint != "":
		t = t.own
	}
	return t.Tariff(kind, model)
}

// parse reads a table. A provider that is not among kinds is an error, unless
// kinds is nil.
func parse(raw []byte, kinds []string) (*Table, error) {
	var file map[string]any
	if err := files.YAML(raw, &file); err != nil {
		return nil, err
	}
	t := &Table{tariffs: map[string]map[string]Tariff{}}
	for kind, value := range file {
		if kind == "date" || kind == "source" { // of the prices, for who reads the file
			continue
		}
		if kinds != nil && !slices.Contains(kinds, kind) {
			return nil, fmt.Errorf("line %d: unknown provider %q%s: the providers with prices are %s",
				lineOf(raw, kind), kind, methods.DidYouMean(kind, kinds), strings.Join(kinds, ", "))
		}
		models, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: want models with their prices, as in {%s: {model: [0.5, 1.5]}}", kind, kind)
		}
		t.tariffs[kind] = map[string]Tariff{}
		for model, entry := range models {
			tariff, err := parseTariff(entry)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", kind, model, err)
			}
			t.tariffs[kind][model] = tariff
		}
	}
	return t, nil
}

// lineOf is the line, from 1, on which a key stands first.
func lineOf(raw []byte, name string) int {
	at := regexp.MustCompile(`(?m)(?:^|[{,])\s*["']?` + regexp.QuoteMeta(name) + `["']?\s*:`).FindIndex(raw)
	if at == nil { // spelled by another way of quoting
		return 1
	}
	return 1 + bytes.Count(bytes.TrimSpace(raw[:at[1]]), []byte("\n"))
}

// longest is the name of a tariff's Tariff.UpTo.
const longest = "longest"

// names are those of the numbers of a tariff, in the order of its short form.
var names = []string{"input", "output", longest, "cached_input", "cache_write"}

const form = "write [input, output] in US dollars per million tokens, {input: …, output: …, cached_input: …, cache_write: …, longest: …}, or null"

func parseTariff(entry any) (Tariff, error) {
	numbers := map[string]float64{}
	switch entry := entry.(type) {
	case nil:
		return Tariff{}, nil
	case []any:
		if len(entry) > 3 {
			return Tariff{}, fmt.Errorf("%v is not a price: %s", entry, form)
		}
		for i, e := range entry {
			if err := put(numbers, names[i], e); err != nil {
				return Tariff{}, err
			}
		}
	case map[string]any:
		for name, e := range entry {
			if err := put(numbers, name, e); err != nil {
				return Tariff{}, err
			}
		}
	}
	input, hasInput := numbers["input"]
	output, hasOutput := numbers["output"]
	if !hasInput || !hasOutput {
		return Tariff{}, fmt.Errorf("%v is not a price: %s", entry, form)
	}
	return Tariff{
		Price: &provider.Price{
			Input: perToken(input), Output: perToken(output),
			CachedInput: optional(numbers, "cached_input"), CacheWrite: optional(numbers, "cache_write"),
		},
		UpTo: int64(numbers[longest]),
	}, nil
}

// put adds the number of the given name.
func put(numbers map[string]float64, name string, value any) error {
	if !slices.Contains(names, name) {
		return fmt.Errorf("unknown name %q: %s", name, form)
	}
	n, ok := number(value)
	least, most := 0.0, 1e6
	if name == longest {
		least, most = 1, 1e9
	}
	if !ok || n < least || n > most {
		return fmt.Errorf("%s: %v is out of range or not a number", name, value)
	}
	numbers[name] = n
	return nil
}

func optional(numbers map[string]float64, name string) *methods.NanoUSD {
	n, ok := numbers[name]
	if !ok {
		return nil
	}
	price := perToken(n)
	return &price
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v)
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	}
	return 0, false
}

// perToken turns dollars per million tokens into nano-dollars per token.
func perToken(usdPerMillion float64) methods.NanoUSD {
	return methods.NanoUSD(math.Round(usdPerMillion * 1000))
}
