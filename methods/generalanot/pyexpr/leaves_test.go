package pyexpr

// leaves are the expressions without parts. Types that stand here alone, such
// as small, spec and key, are constants of some use.
var leaves = map[string][]string{
	"int":    {"0", "1", "-1", "2", "7", "10", "100", "0x1f", "1_000", "0b101", "0o17", "n1", "n2", "big", "True", "False", "-128", "9007199254740993", "9223372036854775807"},
	"float":  {"0.0", "-0.0", "0.5", "1.5", "-2.25", "1e16", "1e-5", "3.14159", "1e100", "x", "y", "2.675", "0.1", "1e22", "float('inf')", "float('nan')", "math.inf", "math.pi", ".5", "5e-324"},
	"num":    {"n1", "x", "3", "2.5", "True", "-7"},
	"str":    {"s", "t", "''", "'a'", "'Nut'", "'abc'", "\"it's\"", "r'\\n'", "'\\n\\t\\x41'", "'é' 'ß'", "u'u'", "'1,2'", "today"},
	"bool":   {"True", "False", "flag"},
	"ints":   {"nums", "[]", "[1, 2, 3]", "[3, 1, 2, 1]", "[n1, n2]", "range(5)", "(4, 5)", "range(10, 0, -3)"},
	"floats": {"fs", "[0.5, -1.5]", "[x, y]", "(1.25,)", "[0.1] * 3"},
	"strs":   {"words", "['b', 'a']", "('x', 'yy')", "[s, t]", "[]", "list(d)"},
	"exts":   {"extractions", "extractions[1:]", "extractions[::-1]", "[]"},
	"ext":    {"{'a': 'mild', 'b': 'none', 'stars': 4, 'score': 1.5, 'date': '2020-02-29', 'ok': True}", "extractions[0]"},
	"dict":   {"d", "{}", "{'k': 1, 'a': 2}", "{'nut': n1}"},
	"set":    {"set()", "{1, 2}", "{n1, n2, 3}", "set(nums)"},
	"sset":   {"set(words)", "{'a', 'nut'}", "set(d)", "{'a', 'b', s}"},
	"tuple":  {"()", "(1,)", "(1, 'a')", "(n1, x, s)", "(None, True)"},
	"date":   {"date(2024, 2, 29)", "date(2023, 12, 31)", "date.fromisoformat(today)"},
	"dt":     {"datetime(2024, 2, 29, 12, 30)", "datetime(2020, 1, 1)", "datetime.fromisoformat('2024-05-01T10:20:30.5')"},
	"delta":  {"timedelta(days=3)", "timedelta(hours=-5)", "timedelta(1, 2, 3)"},
	"obj":    {"None", "none", "int", "str", "len", "1", "'a'"},

	"small": {"0", "1", "2", "3"},
	"idx":   {"0", "1", "-1", "2", "-2", "5", "None", "True", "-100", "n1"},
	"step":  {"1", "2", "-1", "-2", "3", "None"},
	"prec":  {"0", "1", "2", "3", "-1", "-2", "5", "None", "17"},
	"key":   {"'a'", "'b'", "'date'"},
	"nkey":  {"'stars'", "'score'", "'ok'"},
	"cmp":   {"<", "<=", ">", ">=", "==", "!="},
	"level": {"'none'", "'mild'", "'moderate'", "'severe'", "'firsthand'"},
	"fspec": {".2f", "8.3f", "+.1e", "g", ",.2f", "08.2f", ".3", "%", ".1%", "^12.4g", "*<10", "_.1f", " .2f", "012,.1f", ".0f", ""},
	"ispec": {"d", "05d", "+d", ",", "_d", ">8", "^+9d", ".2f", "e", "%", "08,", "=10d", "*^9", ""},
	"sspec": {">10", "<5", "^9", "*^9", ".2", "s", "05", "_<6.3s", "", "x^4"},
	"conv":  {"", "!r", "!s"},
	"dfmt":  {"'%Y-%m-%d'", "'%d %B %Y'", "'%b %d, %y'", "'%j'", "'%A %a'", "'%H:%M:%S'"},
	"type":  {"int", "str", "float", "bool", "list", "(int, float)", "dict", "tuple", "set", "(str, (int, bool))"},
}
