package pack

import (
	"strings"
	"testing"
)

// TestWordsOfOlderBuilds: what older builds wrote for people, when the verb was another, is
// taken for what it is; every other difference is found.
func TestWordsOfOlderBuilds(t *testing.T) {
	const (
		before = `This zip is a study: runs of noema with everything that they asked and were told.

    noema verify FILE     computes every trial again, without a key and without a network,
                          and compares root hashes and tables with what is in here
`
		crate = `{"description":"\"noema pack verify\" computes every trial again, without a key and without a network.","name":"noema pack verify"}`
		now   = `% Written by noema cite; noema verify --tex computes every number again.`
	)
	if !strings.HasPrefix(earlier(readme), before) {
		t.Errorf("the README was\n%s", earlier(readme))
	}
	x := &verification{}
	old := strings.Replace(crate, "pack verify", "verify", 1)
	for _, pair := range [][2]string{{earlier(readme), readme}, {readme, readme}, {old, crate}} {
		if where := x.differs([]byte(pair[0]), []byte(pair[1])); pair[0] != pair[1] && where != "" {
			t.Errorf("%s: %s", pair[0], where)
		}
	}
	for _, said := range []string{earlier(readme) + "x", strings.Replace(earlier(readme), "every", "no", 1), strings.ReplaceAll(crate, "pack verify", "verify"), old + " "} {
		if x.differs([]byte(said), []byte(readme)) == "" || x.differs([]byte(said), []byte(crate)) == "" {
			t.Errorf("no difference is found in %s", said)
		}
	}
	numbers := []Number{{Name: "a", Text: "1.5"}}
	file := strings.Replace(string(LaTeX(numbers)), texWritten, now, 1)
	for _, text := range []string{string(LaTeX(numbers)), file} {
		if n, err := checkTeX(text, map[string]string{"a": "1.5"}); n != 1 || err != nil {
			t.Errorf("%d, %v of\n%s", n, err, text)
		}
	}
}
