package pyexpr

// intArg is an argument that must be an integer; def stands for a missing one.
func intArg(v Value, def int) int {
	if v == nil {
		return def
	}
	i := integerArg(v)
	n, ok := smallInt(i)
	if !ok {
		raise(overflowError, "Python int too large to convert to C ssize_t")
	}
	return n
}

// smallArg is an argument that C reads as an int.
func smallArg(v Value, def int) int {
	n := intArg(v, def)
	if int(int32(n)) != n {
		raise(overflowError, "Python int too large to convert to C int")
	}
	return n
}

// integerArg is an argument that must be an integer of any size.
func integerArg(v Value) Value {
	i, ok := integer(v)
	if !ok {
		raise(typeError, "'%s' object cannot be interpreted as an integer", className(v))
	}
	return i
}

func strArg(v Value) string {
	s, ok := v.(Str)
	if !ok {
		raise(typeError, "argument must be str, not %s", className(v))
	}
	return string(s)
}

func realArg(v Value) float64 {
	x, ok := toFloat(v)
	if !ok {
		raise(typeError, "must be real number, not %s", className(v))
	}
	return x
}

func isNone(v Value) bool {
	_, ok := v.(None)
	return v == nil || ok
}

func orNone(v Value) Value {
	if v == nil {
		return None{}
	}
	return v
}
