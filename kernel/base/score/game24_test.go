package score_test

import (
	"strings"
	"testing"

	"noema/kernel/base/score"
)

func TestGame24(t *testing.T) {
	for _, c := range []struct {
		expression string
		numbers    []int
		fault      string // empty if it is right
	}{
		{"(10 - 4) * (13 - 9)", []int{4, 9, 10, 13}, ""},
		{"8 / (3 - 8/3)", []int{3, 3, 8, 8}, ""},
		{"((1+1)×(4+8)) = 24", []int{1, 1, 4, 8}, ""},
		{"6 ÷ (1 − 3/4)", []int{1, 3, 4, 6}, ""},
		{"1 * 2 *\n3 * 4", []int{1, 2, 3, 4}, ""},
		{"4 * 6 * 1 * 1 + 0", []int{1, 1, 4, 6}, "uses the numbers [0 1 1 4 6]"},
		{"4 * 6", []int{1, 1, 4, 6}, "uses the numbers [4 6]"},
		{"24", []int{1, 1, 4, 6}, "uses the numbers"},
		{"1 + 1 + 4 + 6", []int{1, 1, 4, 6}, "is 12, not 24"},
		{"8 / (3 - 3) + 8", []int{3, 3, 8, 8}, "division by zero"},
		{"8 / 3 * 3 + 8 ", []int{3, 3, 8, 8}, "is 16, not 24"},
		{"7 / 3 + 8 + 8", []int{3, 7, 8, 8}, "is 55/3, not 24"},
		{"12 ^ 2", []int{2, 12}, "not allowed"},
		{"4 % 6", []int{4, 6}, "not allowed"},
		{"-4 + 28", []int{4, 28}, "only numbers"},
		{"f(24)", []int{24}, "only numbers"},
		{"024", []int{24}, ""},
		{"0x18", []int{24}, "not a whole number"},
		{"2_4", []int{24}, "not a whole number"},
		{"24.0", []int{24}, "not a whole number"},
		{"'a' + 1", []int{1}, "not a whole number"},
		{"9999999999", []int{1}, "not a whole number"},
		{"1 + 23 = 25", []int{1, 23}, "expected"},
		{"", []int{24}, "expected"},
		{"func() { for {} }()", []int{24}, "only numbers"},
		{strings.Repeat("(", 2000), []int{24}, "2000 bytes"},
	} {
		err := score.Game24(c.expression, c.numbers)
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("Game24(%.40q, %v) = %v, want %q", c.expression, c.numbers, err, c.fault)
		}
	}
}

func FuzzGame24(f *testing.F) {
	f.Add("8 / (3 - 8/3)")
	f.Add("(((1+1)))*12*1")
	f.Fuzz(func(t *testing.T, expression string) {
		if err := score.Game24(expression, []int{3, 3, 8, 8}); err == nil && strings.Count(expression, "8") != 2 {
			t.Errorf("%q passed", expression)
		}
	})
}
