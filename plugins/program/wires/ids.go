package wires

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"noema/kernel/base/verbatim"
)

// idNames are the fields that hold ids in replies, timeNames those with times, and withIDs those
// below which there are more.
var (
	idNames   = []string{"id", "call_id", "item_id", "tool_use_id"}
	timeNames = []string{"created", "created_at", "completed_at"}
	withIDs   = []string{"choices", "message", "output", "content", "tool_calls"}
)

// replyNode has id change the ids of a reply where they stand, and time its times; nil changes none.
func replyNode(id, time func([]byte) []byte) *verbatim.Node {
	n := &verbatim.Node{In: map[string]*verbatim.Node{}}
	n.Each = n
	for _, name := range withIDs {
		n.In[name] = n
	}
	for names, do := range map[*[]string]func([]byte) []byte{&idNames: id, &timeNames: time} {
		for _, name := range *names {
			if do != nil {
				n.In[name] = &verbatim.Node{Do: do}
			}
		}
	}
	return n
}

// marked is what stands for the n-th id of a stored reply: the prefix of the id, which clients
// may look at, and a number.
var marked = regexp.MustCompile(`^"([A-Za-z]{0,12}[_-])noema-id-(\d+)"$`)

// Recorded is a provider's reply as it is stored, and as [Whole] takes it: its ids, which mean
// nothing, are numbered by first appearance, and its times are 1, so that equal replies are equal.
// Nothing else of it is changed.
func Recorded(body []byte) ([]byte, error) {
	of := map[string][]byte{}
	return verbatim.Rewrite(body, replyNode(func(value []byte) []byte {
		var id string
		if json.Unmarshal(value, &id) != nil || id == "" {
			return value
		}
		if of[id] == nil {
			prefix := "id_"
			if i := strings.IndexAny(id, "_-"); i >= 0 && i <= 12 && letters(id[:i]) {
				prefix = id[:i+1]
			}
			of[id] = fmt.Appendf(nil, `"%snoema-id-%d"`, prefix, len(of))
		}
		return of[id]
	}, func(value []byte) []byte {
		if string(value) == "null" {
			return value
		}
		return fmt.Append(nil, created)
	}))
}

func letters(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// ownIDs is a stored reply with ids that are made from id.
func ownIDs(body []byte, id string) ([]byte, error) {
	return verbatim.Rewrite(body, replyNode(func(value []byte) []byte {
		return marked.ReplaceAll(value, []byte(`"${1}`+id+`_${2}"`))
	}, nil))
}
