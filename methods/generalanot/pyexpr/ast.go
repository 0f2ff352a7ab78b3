package pyexpr

// node is a part of a parsed expression; at is its byte offset.
type node interface{ at() int }

type position int

func (p position) at() int { return int(p) }

type (
	constant struct {
		position
		val Value
	}
	nameRef struct {
		position
		id string
	}
	// display is a list, a tuple or a set that is written out.
	display struct {
		position
		kind  *Type
		elems []node
	}
	// dictDisplay has a nil key where a dict is unpacked.
	dictDisplay struct {
		position
		keys, vals []node
	}
	starred struct {
		position
		x node
	}
	unary struct {
		position
		op string
		x  node
	}
	binary struct {
		position
		op   string
		l, r node
	}
	// logical is a chain of "and" or of "or".
	logical struct {
		position
		or bool
		xs []node
	}
	// comparison is a chain: xs[0] ops[0] xs[1] ops[1] xs[2] ...
	comparison struct {
		position
		ops []string
		xs  []node
	}
	conditional struct {
		position
		test, then, other node
	}
	lambda struct {
		position
		params params
		body   node
	}
	// comprehension makes a list, a set, a dict or a generator.
	comprehension struct {
		position
		kind    *Type
		elem    node
		val     node // of a dict
		clauses []clause
	}
	attribute struct {
		position
		x    node
		name string
	}
	call struct {
		position
		fn   node
		args []node
		kws  []kwNode
	}
	subscript struct {
		position
		x, index node
	}
	slice struct {
		position
		lo, hi, step node // nil where left out
	}
	formatted struct {
		position
		parts []fpart
	}
)

type clause struct {
	target node // nameRef, display of targets, or starred within one
	iter   node
	conds  []node
}

type kwNode struct {
	name string
	val  node
}

type params struct {
	names    []string
	defaults []node // nil where there is none
}

// fpart is a literal piece of an f-string, or an expression in it.
type fpart struct {
	lit  string
	expr node
	conv byte // 'r', 's' or 0
	spec []fpart
}
