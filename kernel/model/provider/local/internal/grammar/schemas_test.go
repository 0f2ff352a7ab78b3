package grammar_test

// sample is a schema with texts that must be accepted byte by byte, and texts
// that must be refused: at the byte given, or at the end where at is the
// text's length.
type sample struct {
	name   string
	schema string
	good   []string
	bad    []refused
}

type refused struct {
	text string
	at   int
}

var samples = []sample{
	{"any", `true`, []string{`null`, `{"a":[1,"x",{"b":{}}],"c":-1.5e+3}`, `""`, `[]`, `0`}, []refused{{`nul`, 3}, {`01`, 1}, {`[1,]`, 3}, {`{"a":1,"a":2}`, 9}}},
	{"empty schema", `{"title":"anything","description":"x","default":3,"examples":[1],"$defs":{"unused":{"not":{}}}}`, []string{`true`, `[[]]`}, []refused{{` 1`, 0}}},
	{"null", `{"type":"null"}`, []string{`null`}, []refused{{`nil`, 1}, {`null `, 4}}},
	{"bool", `{"type":"boolean"}`, []string{`true`, `false`}, []refused{{`tru`, 3}, {`trie`, 2}}},
	{"integer", `{"type":"integer"}`, []string{`0`, `-1`, `123456789012345678`}, []refused{{`1.0`, 1}, {`-0`, 1}, {`01`, 1}, {`1234567890123456789`, 18}, {`-`, 1}}},
	{"number", `{"type":"number"}`, []string{`0`, `-0.0`, `3.14`, `6.02e23`, `1E-9`}, []refused{{`1.`, 2}, {`.5`, 0}, {`1e`, 2}, {`1e999`, 4}, {`+1`, 0}, {`NaN`, 0}}},
	{"integer range", `{"type":"integer","minimum":-12,"maximum":104}`, []string{`-12`, `-9`, `0`, `104`, `99`}, []refused{{`-13`, 2}, {`105`, 2}, {`-120`, 3}, {`200`, 2}}},
	{"integer far range", `{"type":"integer","minimum":1e19,"maximum":10000000000000000099}`, []string{`10000000000000000000`, `10000000000000000099`}, []refused{{`9`, 0}, {`10000000000000000100`, 17}}},
	{"integer with fraction bounds", `{"type":"integer","minimum":0.5,"maximum":3.5}`, []string{`1`, `3`}, []refused{{`0`, 0}, {`4`, 0}, {`10`, 1}}},
	{"number range", `{"type":"number","minimum":0,"maximum":1}`, []string{`1`, `0.5`, `1.0`, `0.000001`, `0`, `-0.0`}, []refused{{`1.01`, 3}, {`-1`, 1}, {`-0.1`, 3}, {`2`, 0}}},
	{"negative number range", `{"type":"number","minimum":-2.5,"maximum":-0.25}`, []string{`-2.5`, `-1`, `-0.25`, `-2.50`}, []refused{{`-0.24`, 4}, {`-2.6`, 3}, {`0`, 0}, {`-3`, 1}, {`-2.51`, 4}}},
	{"string", `{"type":"string"}`, []string{`""`, `"a\n\"\\\/ é😀"`, `"\u00e9\ud83d\ude00"`, "\"\x7f\""}, []refused{{"\"\n\"", 1}, {`"\ud83d"`, 7}, {`"\ude00"`, 4}, {"\"\xc0\x80\"", 1}, {"\"\xed\xa0\x80\"", 2}, {"\"\xf4\x90", 2}, {`"\x`, 2}, {`"a`, 2}}},
	{"string length", `{"type":"string","minLength":2,"maxLength":4}`, []string{`"ab"`, `"éé😀é"`, `"\ud83d\ude00a"`}, []refused{{`"a"`, 2}, {`"abcde"`, 5}}},
	{"string exact", `{"type":"string","minLength":3,"maxLength":3}`, []string{`"abc"`}, []refused{{`"abcd`, 4}, {`"ab"`, 3}}},
	{"enum", `{"enum":["red","green","greenish",1,12,null,{"a":[1]}]}`, []string{`"red"`, `"green"`, `"greenish"`, `1`, `12`, `null`, `{"a":[1]}`}, []refused{{`"re"`, 3}, {`123`, 2}, {`2`, 0}}},
	{"enum and type", `{"type":["string","integer"],"enum":["a",1,1.5,null,true]}`, []string{`"a"`, `1`}, []refused{{`1.5`, 1}, {`n`, 0}, {`t`, 0}}},
	{"enums alike", `{"type":"object","properties":{"a":{"enum":[1,2]},"b":{"enum":[12]}},"required":["a","b"],"additionalProperties":false}`, []string{`{"a":1,"b":12}`}, []refused{{`{"a":12`, 6}, {`{"a":1,"b":2`, 11}}},
	{"const", `{"const":"a\u0001\"é/"}`, []string{`"a\u0001\"é/"`}, []refused{{`"a\u0002`, 7}}},
	{"nullable", `{"type":["string","null"]}`, []string{`null`, `"null"`}, []refused{{`1`, 0}}},
	{"object", `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},"required":["name","age"],"additionalProperties":false}`, []string{`{"name":"x","age":3}`}, []refused{{`{}`, 1}, {`{"age"`, 2}, {`{"name":"x"}`, 11}, {`{"name":"x","age":3,`, 19}, {`{ 1`, 2}}},
	{"white space", `{"type":"object","properties":{"a b":{"type":"integer"},"c":{"type":"array","items":{"type":"string"}}},"required":["a b"],"additionalProperties":{"type":"null"}}`,
		[]string{`{ "a b": 1, "c": [ "x", "y" ] }`, "{\n  \"a b\": 1,\n\n\t\"c\": [\n                    \"x\"\n],\"d\":\nnull\n}", `{"a b":1}`, "{\n\n\t \"a b\":1,\"c\":[ ]}"},
		[]refused{{`{  `, 2}, {"{\n\n\n", 3}, {"{\n                     ", 21 + 1}, {"{ \n", 2}, {"{\t", 1}, {"{\r", 1}, {`{"a b" :`, 6}, {`{"a b":1 2`, 9}, {`{"a b":1 } `, 10}, {`{"a  b"`, 4}, {`{"a b":1,"d" :`, 12}}},
	{"optional", `{"type":"object","properties":{"a":{"type":"integer"},"ab":{"type":"null"},"b":{"type":"boolean"}},"required":["b"],"additionalProperties":false}`, []string{`{"b":true}`, `{"a":1,"b":false}`, `{"ab":null,"b":true}`, `{"a":1,"ab":null,"b":true}`}, []refused{{`{"a":1}`, 6}, {`{"b":true,`, 9}, {`{"ab":null,"a"`, 12}}},
	{"additional", `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":{"type":"string"}}`, []string{`{"id":1}`, `{"id":1,"x":"y","":"z"}`, `{"id":1,"i":"","idx":""}`}, []refused{{`{"x"`, 2}, {`{"id":1,"id"`, 11}, {`{"id":1,"x":1`, 12}, {`{"id":1,"x":"","x"`, 17}, {`{"id":1,"\u0069d"`, 13}}},
	{"open object", `{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":true}`, []string{`{}`, `{"a":1}`, `{"b":[{}]}`, `{"a":1,"b":"x"}`}, []refused{{`{"a":""`, 5}}},
	{"map", `{"type":"object","additionalProperties":{"type":"array","items":{"type":"number"}}}`, []string{`{}`, `{"a":[],"b":[1,2.5]}`}, []refused{{`{"a":1`, 5}}},
	{"required unnamed", `{"type":"object","required":["x"],"additionalProperties":{"type":"integer"}}`, []string{`{"x":1,"a":2}`}, []refused{{`{}`, 1}}},
	{"array", `{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":3}`, []string{`[1]`, `[1,2,3]`}, []refused{{`[]`, 1}, {`[1,2,3,`, 6}}},
	{"anyOf", `{"anyOf":[{"type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"],"additionalProperties":false},{"type":"object","properties":{"kind":{"const":"square"},"side":{"type":"number"}},"required":["kind","side"],"additionalProperties":false}]}`, []string{`{"kind":"circle","r":1}`, `{"kind":"square","side":2}`}, []refused{{`{"kind":"circle","s`, 18}}},
	{"anyOf overlapping", `{"anyOf":[{"type":"integer"},{"type":"number","minimum":0.5},{"type":"string","minLength":3},{"type":"string","maxLength":1}]}`, []string{`-3`, `0.75`, `"abc"`, `"z"`}, []refused{{`-0.5`, 1}, {`"zz"`, 3}}},
	{"ref", `{"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{"type":"array","items":{"$ref":"#/$defs/n"}},"n":{"type":"integer","maximum":9,"minimum":0}}}`, []string{`[1,2]`, `[]`}, []refused{{`[-`, 1}, {`[12`, 2}}},
	{"tree", `{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"value":{"type":"integer"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["value"],"additionalProperties":false}}}`, []string{`{"value":1}`, `{"value":1,"children":[{"value":2,"children":[]}]}`}, []refused{{`{"value":1,"children":[{}`, 24}}},
	{"list", `{"$defs":{"l":{"anyOf":[{"type":"null"},{"type":"object","properties":{"head":{"type":"string","maxLength":3},"tail":{"$ref":"#/$defs/l"}},"required":["head","tail"],"additionalProperties":false}]}},"$ref":"#/$defs/l"}`, []string{`null`, `{"head":"a","tail":{"head":"b","tail":null}}`}, []refused{{`{"head":"a"}`, 11}}},
	{"ambiguous recursion", `{"anyOf":[{"type":"object","properties":{"x":{"$ref":"#"}},"required":["x"],"additionalProperties":false},{"type":"object","properties":{"x":{"$ref":"#"},"y":{"type":"integer"}},"additionalProperties":false}]}`, []string{`{}`, `{"x":{"x":{"x":{"x":{"x":{"x":{}}}}}},"y":1}`}, []refused{{`{"z`, 2}}},
	{"untyped keywords", `{"minimum":3,"minLength":2,"maxItems":1}`, []string{`3`, `"ab"`, `[{}]`, `{}`, `null`}, []refused{{`2`, 1}, {`"a"`, 2}, {`[1,`, 2}}},
	{"impossible optional", `{"type":"object","properties":{"a":false,"b":{"type":"integer"}},"additionalProperties":false}`, []string{`{}`, `{"b":1}`}, []refused{{`{"a`, 2}}},
	{"expression", `{"$defs":{"e":{"anyOf":[{"type":"number"},{"type":"object","properties":{"op":{"enum":["+","-","*"]},"args":{"type":"array","items":{"$ref":"#/$defs/e"},"minItems":2,"maxItems":2}},"required":["op","args"],"additionalProperties":false}]}},"$ref":"#/$defs/e"}`, []string{`{"op":"+","args":[1,{"op":"*","args":[2,3]}]}`}, []refused{{`{"op":"/`, 7}}},
}
