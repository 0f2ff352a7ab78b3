package wires

import (
	"fmt"
	"regexp"
	"strings"
)

// idNames are the fields that hold ids in replies, and timeNames those with times.
var (
	idNames   = []string{"id", "call_id", "item_id"}
	timeNames = []string{"created", "created_at", "completed_at"}
)

// marked is what stands for the n-th id of a stored reply: the prefix of the id, which clients
// may look at, and a number.
var marked = regexp.MustCompile(`\b([A-Za-z]{0,12}[_-])noema-id-(\d+)\b`)

// Recorded is a provider's reply as it is stored, and as [Whole] takes it: its ids, which mean
// nothing, are numbered by first appearance, and its times are 1, so that equal replies are equal.
func Recorded(body []byte) ([]byte, error) {
	var reply any
	if err := decode(body, &reply); err != nil {
		return nil, err
	}
	n := numbering{of: map[string]string{}}
	return encode(n.walk(reply)), nil
}

type numbering struct{ of map[string]string }

// walk replaces ids where they are declared, and where they are named again.
func (n *numbering) walk(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = n.walk(v[i])
		}
	case object:
		for _, name := range idNames {
			if id, ok := v[name].(string); ok && id != "" {
				v[name] = n.mark(id)
			}
		}
		for _, name := range timeNames {
			if v[name] != nil {
				v[name] = created
			}
		}
		for _, name := range []string{"choices", "message", "output", "content", "tool_calls"} { // where ids are
			if v[name] != nil {
				v[name] = n.walk(v[name])
			}
		}
	}
	return v
}

func (n *numbering) mark(id string) string {
	if n.of[id] == "" {
		prefix := "id_"
		if i := strings.IndexAny(id, "_-"); i > 0 && i <= 12 {
			prefix = id[:i+1]
		}
		n.of[id] = fmt.Sprintf("%snoema-id-%d", prefix, len(n.of))
	}
	return n.of[id]
}

// ownIDs is a stored reply with ids that are made from id.
func ownIDs(body []byte, id string) []byte {
	return marked.ReplaceAll(body, []byte("${1}"+id+"_${2}"))
}
