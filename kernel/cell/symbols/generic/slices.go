package generic

import std_cmp "cmp"

func slices_All[S ~[]E, E any](s S) func(yield func(int, E) bool) {
	return func(yield func(int, E) bool) {
		for i, v := range s {
			if !yield(i, v) {
				return
			}
		}
	}
}

func slices_Backward[S ~[]E, E any](s S) func(yield func(int, E) bool) {
	return func(yield func(int, E) bool) {
		for i := len(s) - 1; i >= 0; i-- {
			if !yield(i, s[i]) {
				return
			}
		}
	}
}

func slices_Values[S ~[]E, E any](s S) func(yield func(E) bool) {
	return func(yield func(E) bool) {
		for _, v := range s {
			if !yield(v) {
				return
			}
		}
	}
}

func slices_Chunk[S ~[]E, E any](s S, n int) func(yield func(S) bool) {
	if n < 1 {
		panic("cannot be less than 1")
	}
	return func(yield func(S) bool) {
		for i := 0; i < len(s); i += n {
			end := n
			if len(s)-i < n {
				end = len(s) - i
			}
			if !yield(s[i : i+end : i+end]) {
				return
			}
		}
	}
}

func slices_Equal[S ~[]E, E comparable](s1, s2 S) bool {
	if len(s1) != len(s2) {
		return false
	}
	for i := range s1 {
		if s1[i] != s2[i] {
			return false
		}
	}
	return true
}

func slices_EqualFunc[S1 ~[]E1, S2 ~[]E2, E1, E2 any](s1 S1, s2 S2, eq func(E1, E2) bool) bool {
	if len(s1) != len(s2) {
		return false
	}
	for i, v1 := range s1 {
		if !eq(v1, s2[i]) {
			return false
		}
	}
	return true
}

func slices_Compare[S ~[]E, E std_cmp.Ordered](s1, s2 S) int {
	for i, v1 := range s1 {
		if i >= len(s2) {
			return +1
		}
		if c := cmp_Compare(v1, s2[i]); c != 0 {
			return c
		}
	}
	if len(s1) < len(s2) {
		return -1
	}
	return 0
}

func slices_CompareFunc[S1 ~[]E1, S2 ~[]E2, E1, E2 any](s1 S1, s2 S2, cmp func(E1, E2) int) int {
	for i, v1 := range s1 {
		if i >= len(s2) {
			return +1
		}
		if c := cmp(v1, s2[i]); c != 0 {
			return c
		}
	}
	if len(s1) < len(s2) {
		return -1
	}
	return 0
}

func slices_Index[S ~[]E, E comparable](s S, v E) int {
	for i := range s {
		if v == s[i] {
			return i
		}
	}
	return -1
}

func slices_IndexFunc[S ~[]E, E any](s S, f func(E) bool) int {
	for i := range s {
		if f(s[i]) {
			return i
		}
	}
	return -1
}

func slices_Contains[S ~[]E, E comparable](s S, v E) bool {
	for i := range s {
		if v == s[i] {
			return true
		}
	}
	return false
}

func slices_ContainsFunc[S ~[]E, E any](s S, f func(E) bool) bool {
	for i := range s {
		if f(s[i]) {
			return true
		}
	}
	return false
}

func slices_Insert[S ~[]E, E any](s S, i int, v ...E) S {
	_ = s[i:]
	m := len(v)
	if m == 0 {
		return s
	}
	n := len(s)
	if i == n {
		return append(s, v...)
	}
	if n+m > cap(s) {
		s2 := append(s[:i], make(S, n+m-i)...)
		copy(s2[i:], v)
		copy(s2[i+m:], s[i:])
		return s2
	}
	given := append([]E(nil), v...)
	s = s[:n+m]
	copy(s[i+m:], s[i:n])
	copy(s[i:], given)
	return s
}

func slices_Delete[S ~[]E, E any](s S, i, j int) S {
	_ = s[i:j:len(s)]
	if i == j {
		return s
	}
	n := len(s)
	s = append(s[:i], s[j:]...)
	var zero E
	tail := s[:n]
	for k := len(s); k < n; k++ {
		tail[k] = zero
	}
	return s
}

func slices_DeleteFunc[S ~[]E, E any](s S, del func(E) bool) S {
	kept := 0
	for i := range s {
		if v := s[i]; !del(v) {
			s[kept] = v
			kept++
		}
	}
	var zero E
	for k := kept; k < len(s); k++ {
		s[k] = zero
	}
	return s[:kept]
}

func slices_Replace[S ~[]E, E any](s S, i, j int, v ...E) S {
	_ = s[i:j]
	if i == j {
		return slices_Insert(s, i, v...)
	}
	n := len(s)
	size := n - (j - i) + len(v)
	if size > cap(s) {
		s2 := append(s[:i], make(S, size-i)...)
		copy(s2[i:], v)
		copy(s2[i+len(v):], s[j:])
		return s2
	}
	given := append([]E(nil), v...)
	whole := s[:cap(s)]
	copy(whole[i+len(v):size], s[j:n])
	copy(whole[i:], given)
	var zero E
	for k := size; k < n; k++ {
		whole[k] = zero
	}
	return whole[:size]
}

func slices_Clone[S ~[]E, E any](s S) S {
	return append(s[:0:0], s...)
}

func slices_Compact[S ~[]E, E comparable](s S) S {
	return slices_CompactFunc(s, func(a, b E) bool { return a == b })
}

func slices_CompactFunc[S ~[]E, E any](s S, eq func(E, E) bool) S {
	if len(s) < 2 {
		return s
	}
	kept := 1
	for k := 1; k < len(s); k++ {
		if !eq(s[k], s[k-1]) {
			if kept != k {
				s[kept] = s[k]
			}
			kept++
			continue
		}
		for k2 := k + 1; k2 < len(s); k2++ {
			if !eq(s[k2], s[k2-1]) {
				s[kept] = s[k2]
				kept++
			}
		}
		var zero E
		for i := kept; i < len(s); i++ {
			s[i] = zero
		}
		return s[:kept]
	}
	return s
}

func slices_Grow[S ~[]E, E any](s S, n int) S {
	if n < 0 {
		panic("cannot be negative")
	}
	if more := n - (cap(s) - len(s)); more > 0 {
		return append(s[:cap(s)], make([]E, more)...)[:len(s)]
	}
	return s
}

func slices_Clip[S ~[]E, E any](s S) S {
	return s[:len(s):len(s)]
}

func slices_Reverse[S ~[]E, E any](s S) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

func slices_Concat[S ~[]E, E any](lists ...S) S {
	size := 0
	for _, s := range lists {
		size += len(s)
	}
	var joined S
	joined = slices_Grow(joined, size)
	for _, s := range lists {
		joined = append(joined, s...)
	}
	return joined
}

func slices_Repeat[S ~[]E, E any](x S, count int) S {
	if count < 0 {
		panic("cannot be negative")
	}
	repeated := make(S, 0, len(x)*count)
	for i := 0; i < count; i++ {
		repeated = append(repeated, x...)
	}
	return repeated
}
