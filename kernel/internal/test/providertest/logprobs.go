package providertest

import "unicode/utf8"

// Token is a token of an answer with its log probability.
type Token struct {
	Text    string // its bytes, which may be a part of a character
	Logprob float64
	Top     []Token // others at its place, itself included, in any order
}

// share is the part of tokens that comes with a third of a text.
func share(tokens []Token, third int) []Token {
	n := len(tokens) / 3
	if third == 2 {
		return tokens[2*n:]
	}
	return tokens[third*n : (third+1)*n]
}

// wireTokens are tokens in the form that OpenAI's protocols and Ollama's
// share, or null where none are asked for.
func wireTokens(a Ask, tokens []Token) any {
	if a.Logprobs == 0 || len(tokens) == 0 {
		return nil
	}
	var out []any
	for _, t := range tokens {
		one := wireToken(t)
		top := []any{}
		for _, other := range t.Top {
			top = append(top, wireToken(other))
		}
		one["top_logprobs"] = top
		out = append(out, one)
	}
	return out
}

func wireToken(t Token) fields {
	var bytes []int
	for _, b := range []byte(t.Text) {
		bytes = append(bytes, int(b))
	}
	text := t.Text
	if !utf8.ValidString(text) {
		text = "bytes:?" // as OpenAI writes, in some form, what is not text
	}
	return fields{"token": text, "logprob": t.Logprob, "bytes": bytes}
}

// chatLogprobs are those of a choice.
func chatLogprobs(a Ask, tokens []Token) any {
	list := wireTokens(a, tokens)
	if list == nil {
		return nil
	}
	return fields{"content": list, "refusal": nil}
}

// geminiLogprobs are those of a candidate. Zeros are left out.
func geminiLogprobs(tokens []Token) fields {
	one := func(t Token) any {
		f := fields{"token": t.Text, "tokenId": 7}
		if t.Logprob != 0 {
			f["logProbability"] = t.Logprob
		}
		return f
	}
	var chosen, top []any
	for _, t := range tokens {
		chosen = append(chosen, one(t))
		var others []any
		for _, other := range t.Top {
			others = append(others, one(other))
		}
		top = append(top, fields{"candidates": others})
	}
	return fields{"chosenCandidates": chosen, "topCandidates": top}
}
