package providertest

import (
	"encoding/json"
	"strconv"
	"time"

	"noema/methods"
)

// usage is how the tokens are reported: right, or wrong in one of five ways.
type usage struct{ wrong int }

// total is the sum of two counts, or nothing where one is missing or wrong.
func total(in, out any) any {
	a, ok := in.(int64)
	b, also := out.(int64)
	if !ok || !also {
		return nil
	}
	return a + b
}

// report are the counts of input and output tokens; ok is false if they are
// to be left out.
func (u usage) report(a Ask, answer Answer) (in, out any, ok bool) {
	input, output := answer.Input, answer.Output
	if input == 0 {
		input = int64(len(a.Prompt)/4 + 1)
	}
	if output == 0 {
		output = int64(len(answer.Text)/4 + 1)
	}
	switch u.wrong {
	case 1:
		return -input, -output, true
	case 2:
		return int64(1e18), int64(1e18), true
	case 3:
		return "many", "few", true
	case 4:
		return 1.5, 2.5, true
	case 5:
		return nil, nil, false
	}
	return input, output, true
}

// fields is a JSON object.
type fields = map[string]any

func object(raw []byte) fields {
	var o fields
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

func encode(v any) []byte {
	return methods.Must(json.Marshal(v)) // built of strings and numbers
}

// event is one event of a stream.
func event(name string, v any) []byte {
	var out []byte
	if name != "" {
		out = append(out, "event: "+name+"\n"...)
	}
	return append(append(append(out, "data: "...), encode(v)...), "\n\n"...)
}

// thirds cuts a text into three, as streams do, without cutting a letter.
func thirds(text string) []string {
	runes := []rune(text)
	n := len(runes) / 3
	return []string{string(runes[:n]), string(runes[n : 2*n]), string(runes[2*n:])}
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func sub(v any) fields {
	o, _ := v.(fields)
	return o
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func num(v any) float64 {
	n, _ := v.(float64)
	return n
}

// text is a content: a string, or blocks of {"text":…}.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	all := ""
	for _, e := range list(v) {
		all += str(sub(e)["text"])
	}
	return all
}

// openAIRefusal is the error of OpenAI's protocols.
func openAIRefusal(status int, message string) []byte {
	code := any(nil)
	switch {
	case status == 429:
		code = "rate_limit_exceeded"
	case status >= 500:
		code = "server_error"
	}
	return encode(fields{"error": fields{"message": message, "type": "error", "param": nil, "code": code}})
}

func retryInfo(after time.Duration) []any {
	if after == 0 {
		return nil
	}
	return []any{fields{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": strconv.FormatFloat(after.Seconds(), 'f', -1, 64) + "s"}}
}
