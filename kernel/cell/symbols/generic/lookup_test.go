package generic

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func ExampleLookup() {
	f, _ := Lookup("cmp", "Less")
	fmt.Print(f.Text)
	fmt.Println(f.Imports)
	// Output:
	// func cmp_Less[T std_cmp.Ordered](x, y T) bool {
	// 	return x < y || (x != x && y == y)
	// }
	// map[std_cmp:cmp]
}

func TestLookup(t *testing.T) {
	for _, tt := range []struct {
		path, name, wantName string
		uses                 []string
		imports              map[string]string
	}{
		{"slices", "Sort", "slices_Sort", []string{"cmp_Less"}, map[string]string{"std_cmp": "cmp", "std_sort": "sort"}},
		{"slices", "SortedFunc", "slices_SortedFunc", []string{"slices_Collect", "slices_SortFunc"}, map[string]string{}},
		{"maps", "Keys", "maps_Keys", nil, map[string]string{}},
		{"sync/atomic", "Pointer", "sync_atomic_Pointer", nil, map[string]string{"std_sync": "sync"}},
		{"math/rand/v2", "N", "math_rand_v2_N", nil, map[string]string{"std_rand": "math/rand/v2"}},
	} {
		f, ok := Lookup(tt.path, tt.name)
		if !ok || f.Name != tt.wantName {
			t.Errorf("%s.%s gives %q, %t", tt.path, tt.name, f.Name, ok)
		}
		if !slices.Equal(f.Uses, tt.uses) || fmt.Sprint(f.Imports) != fmt.Sprint(tt.imports) {
			t.Errorf("%s.%s uses %q and imports %q", tt.path, tt.name, f.Uses, f.Imports)
		}
	}
	for _, none := range [][2]string{{"slices", "Nowhere"}, {"", ""}, {"slices", "sort"}, {"no/such", "Sort"}, {"iter", "Pull"}} {
		if f, ok := Lookup(none[0], none[1]); ok {
			t.Errorf("%q gives %+v", none, f)
		}
	}
}

func TestTextsAreWhole(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) || len(names) < 50 {
		t.Errorf("%d names, sorted %t", len(names), slices.IsSorted(names))
	}
	for _, name := range names {
		f, ok := ByName(name)
		if !ok || f.Name != name || !strings.Contains(f.Text, " "+name+"[") {
			t.Errorf("%s does not declare itself: %+v", name, f)
		}
		for _, used := range f.Uses {
			if _, ok := ByName(used); !ok || used == name {
				t.Errorf("%s uses %s, which is no other text", name, used)
			}
		}
	}
	pointer, _ := ByName("sync_atomic_Pointer")
	for _, method := range []string{"Load", "Store", "Swap", "CompareAndSwap"} {
		if !strings.Contains(pointer.Text, ") "+method+"(") {
			t.Errorf("atomic.Pointer lacks %s", method)
		}
	}
}
