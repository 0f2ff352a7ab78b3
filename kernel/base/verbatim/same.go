package verbatim

import (
	"fmt"
	"regexp"
	"strings"

	"noema/methods"
)

// Rules is the version of what [Same] does. A [methods.Raw] names the version by which it is
// known again, and every key holds it.
const Rules = 1

// aside are members of a program's request on which no answer depends, and ids its places of ids
// that clients may draw: "*" is each element of a list. README.md of plugins/program lists them.
var (
	aside = []string{"user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "client_metadata", "store", "service_tier", "metadata.user_id"}
	ids   = []string{
		"messages.*.id", "messages.*.tool_call_id", "messages.*.tool_calls.*.id", "messages.*.content.*.id", "messages.*.content.*.tool_use_id",
		"input.*.id", "input.*.call_id",
	}
)

// Same is the body of a program's request as it is the same in equal executions of the program:
// without what no answer depends on, with ids numbered by their first appearance, and with
// "noise-1" where the first of its patterns of noise fits. Keys hold it, and nobody is asked it.
func Same(r methods.Raw) []byte {
	if r.Rules == 0 { // of a time in which the body itself was changed
		return r.Body
	}
	root, names := &Node{}, map[string]string{}
	for _, path := range aside {
		root.at(path).Do = Cut().Do
	}
	for _, path := range ids {
		root.at(path).Do = func(value []byte) []byte {
			if value[0] != '"' {
				return value
			}
			if names[string(value)] == "" {
				names[string(value)] = fmt.Sprintf(`"id-%d"`, len(names)+1)
			}
			return []byte(names[string(value)])
		}
	}
	body, err := Rewrite(r.Body, root)
	if err != nil {
		return r.Body
	}
	for i, pattern := range r.Noise {
		if found, err := regexp.Compile(pattern); err == nil { // the manifest was checked
			body = found.ReplaceAllLiteral(body, fmt.Appendf(nil, "noise-%d", i+1))
		}
	}
	return body
}

// at is the node of a path below n.
func (n *Node) at(path string) *Node {
	for name := range strings.SplitSeq(path, ".") {
		next := n.Each
		if name != "*" {
			next = n.In[name]
		}
		switch {
		case next != nil:
		case name == "*":
			next = &Node{}
			n.Each = next
		default:
			if n.In == nil {
				n.In = map[string]*Node{}
			}
			next = &Node{}
			n.In[name] = next
		}
		n = next
	}
	return n
}
