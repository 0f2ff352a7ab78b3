package policy

import (
	"encoding/json"
	"sync"

	"noema/kernel/task"
	"noema/kernel/task/internal/tools"
)

// environment offers pure tools over the reviews of a problem's restaurant:
// about_restaurant, find_reviews, count_reviews and read_review. Reviews are
// named by their numbers, from 1 in the order shown.
var environment = sync.OnceValue(func() task.PerTrial {
	return &tools.Environment[*file]{Task: Name, Holds: "reviews", Set: toolset, Read: func(raw json.RawMessage) (*file, error) {
		f := &file{}
		return f, json.Unmarshal(raw, f)
	}}
})

// file is a restaurant with its reviews as tools see them.
type file struct {
	Restaurant place    `json:"restaurant"`
	Reviews    []review `json:"reviews"`
}

const (
	selection = `"words":{"type":"array","items":{"type":"string","minLength":1},"maxItems":200},"min_stars":{"type":"number"},"max_stars":{"type":"number"},"since":{"type":"string"},"until":{"type":"string"}`
	reviewOut = `{"type":"object","properties":{"review":{"type":"integer"},"author":{"type":"string"},"stars":{"type":"integer"},"date":{"type":"string"},"year":{"type":"integer"},"useful":{"type":"integer"},"text":{"type":"string"}}}`
	chosen    = "the reviews that mention one of some words or phrases as whole words (any review without them), with stars and dates within bounds such as 2024 or 2024-05-01, both included"
)

// toolset is prepared once: reading schemas takes longer than running a tool.
var toolset = sync.OnceValue(func() *tools.Set[*file] {
	object := func(properties, rest string) string {
		return `{"type":"object","properties":{` + properties + `}` + rest + `,"additionalProperties":false}`
	}
	return tools.NewSet(
		tools.Tool[*file]{Name: "about_restaurant", Description: "the restaurant's name and categories, how many reviews it has, their dates and mean stars",
			Parameters: object("", ""),
			Result:     `{"type":"object","properties":{"name":{"type":"string"},"categories":{"type":"array","items":{"type":"string"}},"reviews":{"type":"integer"},"first":{"type":"string"},"last":{"type":"string"},"mean_stars":{"type":"number"}}}`,
			Run:        tools.Of((*file).about)},
		tools.Tool[*file]{Name: "find_reviews", Description: chosen + "; in the order shown, with an excerpt of each, or the full text if full",
			Parameters: object(selection+`,"full":{"type":"boolean"}`, ""),
			Result:     `{"type":"array","items":` + reviewOut + `}`, Run: tools.Of((*file).find)},
		tools.Tool[*file]{Name: "count_reviews", Description: "how many " + chosen,
			Parameters: object(selection, ""), Result: `{"type":"integer"}`, Run: tools.Of((*file).count)},
		tools.Tool[*file]{Name: "read_review", Description: "one review by its number, from 1, in full",
			Parameters: object(`"review":{"type":"integer","minimum":1}`, `,"required":["review"]`),
			Result:     reviewOut, Run: tools.Of((*file).read)},
	)
})
