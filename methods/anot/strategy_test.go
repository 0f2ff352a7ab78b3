package anot_test

import (
	"reflect"
	"strings"
	"testing"

	"noema/methods/anot"
)

func wrap(body string) string { return "===STRATEGY===\n" + body + "\n===MESSAGE===\n" }

func TestParseConditions(t *testing.T) {
	attrs := func(rest ...string) []string { return append([]string{"attributes"}, rest...) }
	for _, c := range []struct {
		line string
		want anot.Condition
		text string // as printed; empty if as written
	}{
		{`[ATTR] attributes.GoodForKids = True`, anot.Condition{Type: anot.Attr, Path: attrs("GoodForKids"), Op: anot.Equal, Value: true}, ""},
		{`[ATTR] attributes.WiFi=free`, anot.Condition{Type: anot.Attr, Path: attrs("WiFi"), Op: anot.Equal, Value: "free"}, `[ATTR] attributes.WiFi = "free"`},
		{`[ATTR] attributes.WiFi == u'free'`, anot.Condition{Type: anot.Attr, Path: attrs("WiFi"), Op: anot.Equal, Value: "free"}, `[ATTR] attributes.WiFi = "free"`},
		{`[ATTR] stars >= 4`, anot.Condition{Type: anot.Attr, Path: []string{"stars"}, Op: anot.GreaterEqual, Value: int64(4)}, ""},
		{`[ATTR] stars < 4.0`, anot.Condition{Type: anot.Attr, Path: []string{"stars"}, Op: anot.Less, Value: 4.0}, ""},
		{`[ATTR] attributes.HasTV != false`, anot.Condition{Type: anot.Attr, Path: attrs("HasTV"), Op: anot.NotEqual, Value: false}, `[ATTR] attributes.HasTV != False`},
		{`[ATTR] attributes.WiFi = None`, anot.Condition{Type: anot.Attr, Path: attrs("WiFi"), Op: anot.Equal}, ""},
		{`[ATTR] categories contains "Tea, & = more"`, anot.Condition{Type: anot.Attr, Path: []string{"categories"}, Op: anot.Contains, Value: "Tea, & = more"}, ""},
		{`[ATTR] attributes["a = b"].c = 1`, anot.Condition{Type: anot.Attr, Path: attrs("a = b", "c"), Op: anot.Equal, Value: int64(1)}, ""},
		{`[ATTR] ["x.y"] = 1`, anot.Condition{Type: anot.Attr, Path: []string{"x.y"}, Op: anot.Equal, Value: int64(1)}, ""},
		{`[AMBIENCE] attributes.Ambience.hipster = True`, anot.Condition{Type: anot.Ambience, Path: attrs("Ambience", "hipster"), Op: anot.Equal, Value: true}, ""},
		{`[MEAL] attributes[GoodForMeal][late night] = True`, anot.Condition{Type: anot.Meal, Path: attrs("GoodForMeal", "late night"), Op: anot.Equal, Value: true}, `[MEAL] attributes.GoodForMeal.late night = True`},
		{`[HOURS] hours.Monday covers 7:00-9:00`, anot.Condition{Type: anot.Hours, Path: []string{"hours", "Monday"}, Op: anot.Covers, Value: "7:00-9:00"}, ""},
		{`[HOURS] hours.Monday covers "7:0 to 9:00"`, anot.Condition{Type: anot.Hours, Path: []string{"hours", "Monday"}, Op: anot.Covers, Value: "7:0-9:00"}, `[HOURS] hours.Monday covers 7:0-9:00`},
		{`[REVIEW_TEXT] reviews mention "latte art"`, anot.Condition{Type: anot.ReviewText, Op: anot.Mention, Value: "latte art"}, ""},
		{`[REVIEW_TEXT] reviews mention 24`, anot.Condition{Type: anot.ReviewText, Op: anot.Mention, Value: "24"}, `[REVIEW_TEXT] reviews mention "24"`},
		{`[REVIEW_TEXT] reviews mention "say \"hi\"\n{(c1)}"`, anot.Condition{Type: anot.ReviewText, Op: anot.Mention, Value: "say \"hi\"\n{(c1)}"}, ""},
		{`[SOCIAL] reviews by friends(Kevin, 1) mention "latte art"`, anot.Condition{Type: anot.Social, Op: anot.Mention, Value: "latte art", Person: "Kevin", Hops: 1}, ""},
		{`[SOCIAL] reviews by friends(Mary Ann O'Neil, 2)`, anot.Condition{Type: anot.Social, Op: anot.Mention, Person: "Mary Ann O'Neil", Hops: 2}, ""},
		{`[SOCIAL] reviews by friends("A, (B)", 2) mention "x, 1) mention y"`, anot.Condition{Type: anot.Social, Op: anot.Mention, Value: "x, 1) mention y", Person: "A, (B)", Hops: 2}, ""},
	} {
		s, err := anot.ParseStrategy(wrap("CONDITIONS:\n  3. "+c.line+"\n\nLOGIC: 3"), 5)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		c.want.Number = 3
		if got := s.Conditions[0]; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is %#v, want %#v", c.line, got, c.want)
		}
		if c.text == "" {
			c.text = c.line
		}
		if got := s.Conditions[0].String(); got != c.text {
			t.Errorf("%s prints as %s", c.line, got)
		}
	}
}

func TestParseStrategyForms(t *testing.T) {
	text := "Here it is:\r\n```\r\n===STRATEGY===\r\nCONDITIONS:\r\n1) [ATTR] a = 1\r\n2. [ATTR] b = 2\r\nLOGIC: or(1, NOT( And(1,2) ))\r\nTOTAL_ITEMS: 7\r\n===MESSAGE===\r\n a\n===STRATEGY===\nb \r\n```\r\n"
	s, err := anot.ParseStrategy(text, 7)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Logic.String(); got != "OR(1, NOT(AND(1, 2)))" {
		t.Errorf("logic %s", got)
	}
	if s.Message != "a\n===STRATEGY===\nb" {
		t.Errorf("message %q", s.Message)
	}
	again, err := anot.ParseStrategy(s.Text(7), 7)
	if err != nil || !reflect.DeepEqual(s, again) {
		t.Errorf("read back as %+v, %v", again, err)
	}
}

func TestParseStrategyFaults(t *testing.T) {
	one := "CONDITIONS:\n1. [ATTR] a = 1\n"
	for body, want := range map[string]string{
		"CONDITIONS:\n\nLOGIC: AND(1)":                                        "no condition",
		one:                                                                   "begins with LOGIC",
		one + "LOGIC: AND(1, 2)":                                              "condition 2, which is not in the list",
		one + "2. [ATTR] b = 1\nLOGIC: NOT(1)":                                "leaves out condition 2",
		one + "1. [ATTR] b = 1\nLOGIC: 1":                                     "two conditions have the number 1",
		one + "LOGIC: AND(1":                                                  "want \",\" or \")\"",
		one + "LOGIC: AND()":                                                  "condition number",
		one + "LOGIC: NOT(1, 1)":                                              "NOT takes one",
		one + "LOGIC: 1 AND 1":                                                "after the end",
		one + "LOGIC: XOR(1, 1)":                                              "want AND, OR, NOT",
		one + "LOGIC: " + strings.Repeat("NOT(", 100_000):                     "deeper than",
		one + "LOGIC: 1\nTOTAL_ITEMS: 6":                                      "the list has 5 items",
		one + "and so on\nLOGIC: 1":                                           "cannot read the line",
		"1. [MOOD] a = 1\nLOGIC: 1":                                           "unknown type [MOOD]",
		"1. [ATTR] a\nLOGIC: 1":                                               "want PATH = VALUE",
		"1. [ATTR] a = [1, 2]\nLOGIC: 1":                                      "is a list",
		"1. [ATTR] a = \"x\nLOGIC: 1":                                         "cannot read the value",
		"1. [ATTR] a..b = 1\nLOGIC: 1":                                        "cannot read the path",
		"1. [ATTR] a[1:2] = 1\nLOGIC: 1":                                      "part of a list",
		"1. [HOURS] hours.Monday covers morning\nLOGIC: 1":                    "covers wants a span",
		"1. [REVIEW_TEXT] latte art\nLOGIC: 1":                                "want reviews mention",
		"1. [REVIEW_TEXT] reviews mention \"\"\nLOGIC: 1":                     "mention wants words",
		"1. [SOCIAL] reviews mention \"x\"\nLOGIC: 1":                         "want reviews by friends",
		"1. [SOCIAL] reviews by friends(A, 3)\nLOGIC: 1":                      "HOPS is 1 or 2",
		"1. [SOCIAL] reviews by friends(A, 1) with x\nLOGIC: 1":               "want mention",
		"99999999999999999999. [ATTR] a = 1\nLOGIC: 1":                        "out of range",
		"1. [ATTR] a = " + strings.Repeat("9", 4000) + "\nLOGIC: 1":           "too large",
		"1. [SOCIAL] reviews by friends(\"\\x4\", 1) mention \"x\"\nLOGIC: 1": "cannot read the name",
	} {
		if s, err := anot.ParseStrategy(wrap(body), 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %+v, %v, want %q", body, s, err, want)
		}
	}
	if _, err := anot.ParseStrategy(one+"LOGIC: 1", 5); err == nil || !strings.Contains(err.Error(), "===STRATEGY===") {
		t.Errorf("without marks: %v", err)
	}
}

func FuzzStrategy(f *testing.F) {
	f.Add(strategyReply)
	f.Add(wrap("1. [ATTR] [\"a.b\"].c = 4.0\n2. [SOCIAL] reviews by friends(\"A, B\", 1)\nLOGIC: OR(1, NOT(2))"))
	f.Add(wrap("1. [HOURS] hours.Monday covers 7:00-9:00\n2. [REVIEW_TEXT] reviews mention \"a\\u00e9\"\nLOGIC: AND(1,2)"))
	f.Fuzz(func(t *testing.T, text string) {
		s, err := anot.ParseStrategy(text, 3)
		if err != nil {
			return
		}
		again, err := anot.ParseStrategy(s.Text(3), 3)
		if err != nil {
			t.Fatalf("%q printed as %q: %v", text, s.Text(3), err)
		}
		if !reflect.DeepEqual(s, again) {
			t.Fatalf("%q printed as %q is read back as %+v", text, s.Text(3), again)
		}
	})
}
