package generic

import (
	std_cmp "cmp"
	std_sort "sort"
)

func slices_Sort[S ~[]E, E std_cmp.Ordered](x S) {
	var list any = x
	switch list := list.(type) {
	case []int:
		std_sort.Ints(list)
	case []string:
		std_sort.Strings(list)
	case []float64:
		std_sort.Float64s(list)
	default:
		std_sort.Slice(x, func(i, j int) bool { return cmp_Less(x[i], x[j]) })
	}
}

func slices_SortFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	std_sort.Slice(x, func(i, j int) bool { return cmp(x[i], x[j]) < 0 })
}

func slices_SortStableFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	std_sort.SliceStable(x, func(i, j int) bool { return cmp(x[i], x[j]) < 0 })
}

func slices_IsSorted[S ~[]E, E std_cmp.Ordered](x S) bool {
	for i := len(x) - 1; i > 0; i-- {
		if cmp_Less(x[i], x[i-1]) {
			return false
		}
	}
	return true
}

func slices_IsSortedFunc[S ~[]E, E any](x S, cmp func(a, b E) int) bool {
	for i := len(x) - 1; i > 0; i-- {
		if cmp(x[i], x[i-1]) < 0 {
			return false
		}
	}
	return true
}

func slices_Min[S ~[]E, E std_cmp.Ordered](x S) E {
	if len(x) < 1 {
		panic("slices.Min: empty list")
	}
	least := x[0]
	for i := 1; i < len(x); i++ {
		if cmp_Less(x[i], least) {
			least = x[i]
		}
	}
	return least
}

func slices_MinFunc[S ~[]E, E any](x S, cmp func(a, b E) int) E {
	if len(x) < 1 {
		panic("slices.MinFunc: empty list")
	}
	least := x[0]
	for i := 1; i < len(x); i++ {
		if cmp(x[i], least) < 0 {
			least = x[i]
		}
	}
	return least
}

func slices_Max[S ~[]E, E std_cmp.Ordered](x S) E {
	if len(x) < 1 {
		panic("slices.Max: empty list")
	}
	most := x[0]
	for i := 1; i < len(x); i++ {
		if most != most {
			return most
		}
		if x[i] > most || x[i] != x[i] {
			most = x[i]
		}
	}
	return most
}

func slices_MaxFunc[S ~[]E, E any](x S, cmp func(a, b E) int) E {
	if len(x) < 1 {
		panic("slices.MaxFunc: empty list")
	}
	most := x[0]
	for i := 1; i < len(x); i++ {
		if cmp(x[i], most) > 0 {
			most = x[i]
		}
	}
	return most
}

func slices_BinarySearch[S ~[]E, E std_cmp.Ordered](x S, target E) (int, bool) {
	i := std_sort.Search(len(x), func(i int) bool { return !cmp_Less(x[i], target) })
	return i, i < len(x) && (x[i] == target || (x[i] != x[i] && target != target))
}

func slices_BinarySearchFunc[S ~[]E, E, T any](x S, target T, cmp func(E, T) int) (int, bool) {
	i := std_sort.Search(len(x), func(i int) bool { return cmp(x[i], target) >= 0 })
	return i, i < len(x) && cmp(x[i], target) == 0
}

func slices_Sorted[E std_cmp.Ordered](seq func(yield func(E) bool)) []E {
	s := slices_Collect(seq)
	slices_Sort(s)
	return s
}

func slices_SortedFunc[E any](seq func(yield func(E) bool), cmp func(E, E) int) []E {
	s := slices_Collect(seq)
	slices_SortFunc(s, cmp)
	return s
}

func slices_SortedStableFunc[E any](seq func(yield func(E) bool), cmp func(E, E) int) []E {
	s := slices_Collect(seq)
	slices_SortStableFunc(s, cmp)
	return s
}

func cmp_Less[T std_cmp.Ordered](x, y T) bool {
	return x < y || (x != x && y == y)
}

func cmp_Compare[T std_cmp.Ordered](x, y T) int {
	if x < y {
		return -1
	}
	if x > y {
		return +1
	}
	if x == y {
		return 0
	}
	if x == x {
		return +1
	}
	if y == y {
		return -1
	}
	return 0
}

func cmp_Or[T comparable](vals ...T) T {
	var zero T
	for _, v := range vals {
		if v != zero {
			return v
		}
	}
	return zero
}
