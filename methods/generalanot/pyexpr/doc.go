// Package pyexpr evaluates Python expressions as CPython 3.11 would, safely.
//
// The formulas of a Formula Seed are Python expressions that a language model
// writes. They are evaluated far from any Python, thousands of times, and
// nobody has read them before: so this package gives what CPython gives (the
// same repr or the same class of exception), names the place of every fault,
// and ends within [Limits] whatever the formula says.
//
// It is our own because no kept library does this: starlark-go is another
// language (no generator expressions, chained comparisons, "is", "**", "sum"
// or f-strings with specifications), gpython stopped at Python 3.4, and
// CPython compiled to WebAssembly and Go (goccy/go-python) carries a whole
// interpreter, and gives no view of which names and fields a formula reads
// before it runs.
//
// # Use
//
// [Compile] once, [Expr.Eval] many times, at the same time if need be.
// [Expr.Names] and [Expr.Fields] say what a formula needs before it runs.
// Values come from [FromGo] and leave by [ToGo] or [Repr].
//
// # Grammar
//
// A source is one expression. White space, comments, line continuations and
// the forms of numbers and strings are Python's.
//
//	source     = exprlist END .
//	exprlist   = starexpr { "," starexpr } [ "," ] .
//	starexpr   = "*" binary | expr .
//	expr       = or [ "if" or "else" expr ] | "lambda" [ params ] ":" expr .
//	params     = param { "," param } [ "," ] .
//	param      = NAME [ "=" expr ] .
//	or         = and { "or" and } .
//	and        = not { "and" not } .
//	not        = "not" not | comparison .
//	comparison = binary { compareop binary } .
//	compareop  = "==" | "!=" | "<" | "<=" | ">" | ">=" | [ "not" ] "in" | "is" [ "not" ] .
//	binary     = factor { op factor } .       (op, binding ever more: | ^ & then + - then * / // %)
//	factor     = ( "+" | "-" | "~" ) factor | primary [ "**" factor ] .
//	primary    = atom { "." NAME | "(" [ args ] ")" | "[" subscript "]" } .
//	args       = arg { "," arg } [ "," ] | expr comp .
//	arg        = expr | "*" expr | NAME "=" expr .
//	subscript  = exprlist | [ expr ] ":" [ expr ] [ ":" [ expr ] ] .
//	atom       = NAME | NUMBER | STRING { STRING } | "None" | "True" | "False"
//	           | "(" [ exprlist | expr comp ] ")"
//	           | "[" [ exprlist | expr comp ] "]"
//	           | "{" [ exprlist | expr comp | items | expr ":" expr comp ] "}" .
//	items      = item { "," item } [ "," ] .
//	item       = expr ":" expr | "**" expr .
//	comp       = for { for } .
//	for        = "for" targets "in" or { "if" or } .
//	targets    = target { "," target } [ "," ] .
//	target     = NAME | "(" targets ")" .
//	fstring    = { text | "{{" | "}}" | "{" exprlist [ "!" ( "r" | "s" ) ] [ ":" spec ] "}" } .
//	spec       = [ [ fill ] align ] [ sign ] [ "0" ] [ width ] [ "," | "_" ] [ "." precision ]
//	             [ "d" | "e" | "f" | "g" | "%" | "s" ] .
//
// An attribute that begins with an underscore is a syntax error, and so are
// assignment expressions, bytes, complex numbers, "...", "@", "<<" and ">>".
//
// # Names
//
// [Builtins] lists the names besides those that the environment holds: the
// common builtins, math, statistics, re, Counter (also as
// collections.Counter), and date, datetime, time and timedelta as "from
// datetime import" gives them. The environment comes first, as a module's
// globals do. The tables in builtins.go, classes.go, counter.go,
// str_methods.go, timeclass.go, mathmod.go, statistics.go and re_module.go say
// what each class and module offers. What CPython has and the tables do not
// raises an error that names the nearest thing that they have.
//
// Patterns of re are Python's and run on package regexp/syntax in linear time (see
// re_pattern.go). They have groups, alternatives, greedy and lazy repetition and the
// flags I, M and S for the whole pattern. Refused, when the formula is compiled, are
// look-around, references to groups, possessive and atomic parts, conditions, and
// the repetition of what may be empty.
//
// # Where it differs from CPython
//
//   - Sets are walked in order of insertion; CPython's order changes from run
//     to run.
//   - "is" holds between numbers and between strings of equal type and value.
//   - re.I and its kin are plain integers, and IGNORECASE folds by package
//     unicode.
//   - A negative number to a fractional power is a ValueError, not a complex
//     number.
//   - Refused are "%" behind a text, arithmetic of Counters, next behind the last
//     item without a default, sorting what has no order (nan, sets), and isdigit of
//     "²" and its kin. The error names what to write.
//   - int and float read ASCII digits without underscores, int in base ten.
//   - Strings hold no lone surrogates, ranges lie within 64 bits, and Unicode
//     is that of packages unicode and golang.org/x/text/cases.
//   - White space before an expression means nothing.
//   - exp, log and pow round correctly, which the C library does in all but
//     one or two cases in a thousand; the other transcendental functions may
//     differ in the last bit.
//   - What CPython would do for minutes ends with a [LimitError].
package pyexpr
