package pack

import "testing"

func TestLastDigitsOfFractions(t *testing.T) {
	for _, c := range []struct {
		said, now string
		same      bool
	}{
		{`{"a":0.1234567890123456}`, `{"a":0.1234567890123457}`, true},
		{`{"a":[1,0.9999999999999999]}`, `{"a":[1,1]}`, true},
		{`{"a":5.6e-17,"b":"x 1.0 \" 2.0"}`, `{"a":0,"b":"x 1.0 \" 2.0"}`, true},
		{`{"a":0.1234567890}`, `{"a":0.1234567891}`, false},
		{`{"a":1e-12}`, `{"a":2e-12}`, false},
		{`{"a":10000000000000001}`, `{"a":10000000000000002}`, false},
		{`{"a":"0.10000000000000001"}`, `{"a":"0.1"}`, false},
		{`{"a":"1.00000000000000001"}`, `{"a":1.0}`, false},
		{`{"a":0.5,"a":0.5}`, `{"a":0.5}`, false},
		{`{"a": 0.5}`, `{"a":0.5}`, false},
		{`{"a":0.5}0`, `{"a":0.5}`, false},
		{`{"a":0.5}`, `{"b":0.5}`, false},
		{`{"a":1e999}`, `{"a":1e998}`, false},
	} {
		if _, err := sameJSON([]byte(c.said), []byte(c.now)); (err == nil) != c.same {
			t.Errorf("%s and %s: %v", c.said, c.now, err)
		}
	}
}

// TestWhatAnOlderNoemaDidNotWrite: members may be missing, and nothing else may differ.
func TestWhatAnOlderNoemaDidNotWrite(t *testing.T) {
	for _, c := range []struct {
		said, now, first string
		zero, ok         bool
	}{
		{`{"a":1}`, `{"a":1,"b":0}`, ".b", true, true},
		{`{"a":1}`, `{"a":1,"b":2}`, "", true, false},
		{`{"a":1}`, `{"a":1,"b":2}`, ".b", false, true},
		{`{"a":1,"c":2}`, `{"a":1,"b":0}`, "", true, false},
		{`{"a":2}`, `{"a":1,"b":0}`, "", true, false},
		{`{"a":1} `, `{"a":1}`, "", true, false},
		{`{"a":[{"x":1}]}`, `{"a":[{"x":1,"y":null}]}`, ".a[0].y", true, true},
		{`{"a":[]}`, `{"a":[{}]}`, "", true, false},
		{"{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\n{\"a\":2,\"b\":\"\"}\n", ".b", true, true},
		{"{\"a\":1}\n", "{\"a\":1,\"b\":\"\"}\n{\"a\":2}\n", "", true, false},
		{`text`, `{"a":1}`, "", true, false},
	} {
		if first, ok := lacks([]byte(c.said), []byte(c.now), c.zero); ok != c.ok || ok && first != c.first {
			t.Errorf("%s of %s: %q, %v", c.said, c.now, first, ok)
		}
	}
}
