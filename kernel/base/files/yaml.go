package files

import (
	"errors"
	"fmt"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of one YAML document. The library that reads it has none: ten short
// lines of aliases to aliases stand for 10^10 values, and a row of brackets
// takes a stack frame each.
const (
	maxTokens = 200_000          // a token takes 300 bytes
	maxDepth  = 100              // lists and maps within each other
	maxKeys   = 4096             // of one map, whose keys the parser copies for each of them
	maxValues = 200_000          // values after every alias is replaced by what it stands for
	maxTime   = 10 * time.Second // for what none of these foresees
)

// YAML decodes a YAML or JSON document within limits on its size, its depth and
// what its aliases stand for. Errors about the limits name the line.
func YAML(raw []byte, into any, options ...yaml.DecodeOption) error {
	return inTime(func() error {
		if _, err := parse(raw); err != nil {
			return err
		}
		return yaml.UnmarshalWithOptions(raw, into, options...)
	})
}

// BuiltIn decodes a document that is part of the program, and tested: every key must be one
// that its type has.
func BuiltIn(raw []byte, into any) {
	if err := YAML(raw, into, yaml.Strict()); err != nil {
		panic(err)
	}
}

// ParseYAML returns the syntax tree of a YAML document, within the limits of
// [YAML].
func ParseYAML(raw []byte) (file *ast.File, err error) {
	err = inTime(func() error {
		parsed, err := parse(raw)
		file = parsed
		return err
	})
	return file, err
}

// inTime gives up on work that takes too long. What it leaves behind ends with
// the limits on the document's size.
func inTime(work func() error) error {
	done := make(chan error, 1)
	go func() {
		// The library panics on some documents that are not YAML.
		defer func() {
			if fault := recover(); fault != nil {
				done <- fmt.Errorf("not valid YAML: %v", fault)
			}
		}()
		done <- work()
	}()
	timer := time.NewTimer(maxTime)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("reading the YAML takes longer than %v: write it more simply", maxTime)
	}
}

func parse(raw []byte) (*ast.File, error) {
	if len(raw) > MaxConfig {
		return nil, fmt.Errorf("the YAML is larger than %d MiB: use a smaller file", MaxConfig>>20)
	}
	tokens := lexer.Tokenize(string(raw))
	if len(tokens) > maxTokens {
		return nil, fmt.Errorf("line %d: the YAML has more than %d words and marks: use a smaller file", tokens[maxTokens].Position.Line, maxTokens)
	}
	if err := errors.Join(checkDepth(tokens), checkKeys(tokens)); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, err
	}
	for _, doc := range file.Docs {
		c := counter{anchors: map[string]int{}}
		if c.count(doc.Body); c.err != nil {
			return nil, c.err
		}
	}
	return file, nil
}

// checkDepth bounds how deep lists and maps stand within each other, from the
// tokens alone: the parser calls itself at every level. Within brackets it
// counts those that are open; elsewhere the columns that lines and dashes open.
func checkDepth(tokens token.Tokens) error {
	var columns []int
	line, flow, prefixes := 0, 0, 0
	for _, t := range tokens {
		opens := t.Position.Line != line
		line = t.Position.Line
		switch t.Type {
		case token.CommentType:
			continue
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow = max(0, flow-1)
		case token.SequenceEntryType, token.MappingKeyType:
			opens = true
		}
		if t.Type == token.TagType || t.Type == token.AnchorType {
			prefixes++
		} else {
			prefixes = 0
		}
		if opens && flow == 0 {
			for len(columns) > 0 && columns[len(columns)-1] >= t.Position.Column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, t.Position.Column)
		}
		if len(columns)+flow+prefixes > maxDepth {
			return fmt.Errorf("line %d: the YAML is more than %d levels deep: write it flatter", line, maxDepth)
		}
	}
	return nil
}

// checkKeys bounds the keys of one map, from the tokens alone. Maps within brackets
// have the column 0.
func checkKeys(tokens token.Tokens) error {
	type level struct{ column, keys int }
	levels, line, flow := []level{{}}, 0, 0
	for _, t := range tokens {
		opens := t.Position.Line != line
		line = t.Position.Line
		if opens && flow == 0 && t.Type != token.CommentType {
			for len(levels) > 1 && levels[len(levels)-1].column > t.Position.Column {
				levels = levels[:len(levels)-1]
			}
			if levels[len(levels)-1].column < t.Position.Column {
				levels = append(levels, level{column: t.Position.Column})
			}
		}
		top := &levels[len(levels)-1]
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
			levels = append(levels, level{})
		case token.SequenceEndType, token.MappingEndType:
			if flow > 0 {
				flow--
				levels = levels[:len(levels)-1]
			}
		case token.SequenceEntryType:
			top.keys = 0 // another map
		case token.MappingValueType:
			if top.keys++; top.keys > maxKeys {
				return fmt.Errorf("line %d: a map of the YAML has more than %d keys: use a list, or several files", line, maxKeys)
			}
		}
	}
	return nil
}

// counter counts the values of a document as if every alias were written out.
type counter struct {
	anchors map[string]int // values by name, once the anchor has ended
	total   int
	err     error
}

// count returns the number of values in a node.
func (c *counter) count(n ast.Node) int {
	if n == nil || c.err != nil {
		return 0
	}
	before := c.total
	c.total++
	switch n := n.(type) {
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		size, ok := c.anchors[name]
		if !ok {
			c.fail(n, fmt.Errorf("alias %q: no anchor of this name ends before it", name))
			return 0
		}
		c.total += size
	case *ast.AnchorNode:
		name := n.Name.GetToken().Value
		delete(c.anchors, name) // an alias within its own anchor would never end
		c.anchors[name] = c.count(n.Value)
	case *ast.TagNode:
		c.count(n.Value)
	case *ast.SequenceNode:
		for _, v := range n.Values {
			c.count(v)
		}
	case *ast.MappingNode:
		for _, v := range n.Values {
			c.count(v)
		}
	case *ast.MappingValueNode:
		c.count(n.Key)
		c.count(n.Value)
	case *ast.MappingKeyNode:
		c.count(n.Value)
	}
	if c.total > maxValues {
		c.fail(n, errors.New("the aliases stand for too many values: write out what is needed"))
	}
	return c.total - before
}

func (c *counter) fail(n ast.Node, err error) {
	if c.err == nil {
		c.err = fmt.Errorf("line %d: %w", n.GetToken().Position.Line, err)
	}
}
