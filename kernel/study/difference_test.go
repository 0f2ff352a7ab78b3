package study

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
		if err := sameJSON([]byte(c.said), []byte(c.now)); (err == nil) != c.same {
			t.Errorf("%s and %s: %v", c.said, c.now, err)
		}
	}
}
