package title

import "testing"

func TestTitles(t *testing.T) {
	for _, same := range [][2]string{
		{"ada_Lovelace", "Ada Lovelace"}, {" Ada  Lovelace ", "Ada Lovelace"}, {"Ame\u0301lie", "Am\u00e9lie"}, {"\u00e9clair", "\u00c9clair"},
	} {
		if Canonical(same[0]) != Canonical(same[1]) {
			t.Errorf("%q and %q are two titles", same[0], same[1])
		}
	}
	for _, two := range [][2]string{
		{"2016 Open", "2017 Open"}, {"1. FC Union", "FC Union"}, {"AIDS", "Aids"}, {"The Office", "Office"}, {"AC/DC", "ACDC"}, {"Help!", "Help"}, {"3rd Rock", "Rock"},
	} {
		if Canonical(two[0]) == Canonical(two[1]) {
			t.Errorf("%q and %q are one title", two[0], two[1])
		}
	}
	for address, want := range map[string]string{
		"wiki/Ada_Lovelace":                                "Ada Lovelace",
		"/wiki/100%25_Wolf#Plot":                           "100% Wolf",
		"https://en.example/wiki/AC%2FDC?oldid=3#Members":  "AC/DC",
		"https://en.example/w/index.php?title=What%3F&x=y": "What?",
		"//en.m.example/wiki/Am%C3%A9lie":                  "Am\u00e9lie",
		"./2016_Open":                                      "2016 Open",
		"100% Wolf":                                        "100% Wolf",
		"Issue #5":                                         "Issue #5",
		"AC/DC":                                            "AC/DC",
		"":                                                 "",
	} {
		if got := Of(address); got != want {
			t.Errorf("title of %q is %q, want %q", address, got, want)
		}
	}
	for _, name := range []string{"AC/DC", "100% Wolf", "What?", "Issue #5", "Am\u00e9lie", "a_b"} {
		if got := Of(URL(name)); Canonical(got) != Canonical(name) {
			t.Errorf("the address of %q is %q, whose title is %q", name, URL(name), got)
		}
	}
}
