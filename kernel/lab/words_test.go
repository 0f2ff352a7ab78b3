package lab

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// avoided are forms of words that a reader has to read twice, each with what to write
// instead. People read messages, help and READMEs with five seconds to spare.
var avoided = []struct {
	form *regexp.Regexp
	cure string
}{
	{regexp.MustCompile(`\b(is|are|was|were|be) no [a-z]`), `"is not a number", for "is no number"`},
	{regexp.MustCompile(`\b(is|are|was|were) none\b`), `"is not one of the labels", for "is none of the labels"`},
	{regexp.MustCompile(`\b(it|line|reply) holds (no|none)\b`), `"no JSON value in the reply", for "it holds no JSON value"`},
	{regexp.MustCompile(`\bnobody (to ask|tells|has checked)|(has|have|had) nobody\b`), `"cannot read input", for "has nobody to ask"; "uncalibrated" or "unchecked", for "nobody has checked"`},
	{regexp.MustCompile(`\bwhom [a-z]`), `the noun, for "whom": "which calls the limits refused", for "whom limits refuse"`},
	{regexp.MustCompile(`\bshall\b`), `"should" or "will", for "shall"`},
	{regexp.MustCompile(`\bfinds itself\b|\bfound by itself\b`), `"adapts to the server", for "finds itself"`},
	{regexp.MustCompile(`\bproves itself\b`), `"can be verified", for "proves itself"`},
	{regexp.MustCompile(`\blooks? away\b`), `"ignores", for "looks away"`},
	{regexp.MustCompile(`\bnothing behind\b`), `"takes no argument", for "takes nothing behind it"`},
	{regexp.MustCompile(`\bgave nothing\b|\bnothing was heard\b`), `"no data for 5s", for "gave nothing for 5s" or "nothing was heard for 5s"`},
	{regexp.MustCompile(`\bdoes not deliver\b|\b(is|are) made again\b`), `"is stuck: recreating it", for "does not deliver: it is made again"`},
	{regexp.MustCompile(`\b(hardly|would|what) settles?\b`), `"decide", for "settle"`},
	{regexp.MustCompile(`\bwhat can be paired\b`), `"the samples both have", for "what can be paired"`},
	{regexp.MustCompile(`\bbears? (out|it|hostile)\b|\bthey bear\b|\bbearable\b`), `"withstands" or "supports", for "bears"`},
	{regexp.MustCompile(`\bso many times\b|\bso long(,| ago|;)`), `the noun: "N times", "this long", for "so many times"`},
	{regexp.MustCompile(`\bno other reads\b`), `"which other scorers cannot read", for "whose targets no other reads"`},
	{regexp.MustCompile(`\bstays? what\b`), `"does not change", for "stays what it is"`},
	{regexp.MustCompile(`\bone that is there\b`), `"an existing file", for "one that is there"`},
	{regexp.MustCompile(`\bthat there (is|are)( not)?([,.;:]|$)`), `"an unknown one" or "each one", for "one that there is not"`},
	{regexp.MustCompile(`\band( is| are)? told\b`), `"reported", for "told"`},
	{regexp.MustCompile(`\bput one to\b`), `"ask one", for "put one to its tools"`},
	{regexp.MustCompile(`noema (check|prove|verify|seed)\b`), `the verb's name now: "noema plugin replay", "noema pack prove", "noema pack verify", "noema plan"`},
	{regexp.MustCompile(`\bcannot say when\b`), `what to do: "--until needs calibrated graders", for "graders cannot say when"`},
}

// plain are uses of an avoided form that say what they mean at once.
var plain = regexp.MustCompile(`\b([Tt]here|where) ((may |would )?be|is|are|was|were) (no|none)\b|\b(is|are|was|were|be) no (longer|larger|more|less|fewer|smaller|narrower|wider|better|worse|deeper|later|other)\b`)

// recorded are the folders whose texts reach models, or the reasons and events of
// trials, which are hashed: another word there is another root hash. Their comments
// and the help of their options are read like any other's.
var recorded = []string{
	"methods",                   // prompts, re-asks and the reasons of answers
	"kernel/model/provider/sim", // replies
}

func TestWords(t *testing.T) {
	n := 0
	for _, text := range texts(t) {
		n++
		said := plain.ReplaceAllString(text.said, "")
		for _, a := range avoided {
			if found := a.form.FindString(said); found != "" {
				t.Errorf("%s: %q: write %s\n\t%.300q", text.at, found, a.cure, text.said)
			}
		}
	}
	if n < 10000 {
		t.Errorf("only %d texts found: the test looks in the wrong place", n)
	}
}

// text is what the project says somewhere.
type text struct{ at, said string }

// texts are the project's comments, strings and lines of READMEs, without tests.
func texts(t *testing.T) (all []text) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != "../.." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			raw, err := os.ReadFile(path)
			all = append(all, paragraphs(path, string(raw))...)
			return err
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".pb.go"):
			found, err := textsOf(path)
			all = append(all, found...)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// paragraphs are those of a README, on a line each.
func paragraphs(path, raw string) (all []text) {
	line := 1
	for part := range strings.SplitSeq(raw, "\n\n") {
		all = append(all, text{path + ":" + strconv.Itoa(line), strings.Join(strings.Fields(part), " ")})
		line += strings.Count(part, "\n") + 2
	}
	return all
}

// textsOf are the comments and strings of a Go file.
func textsOf(path string) (all []text, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	add := func(n ast.Node, said string) {
		all = append(all, text{path + ":" + strconv.Itoa(set.Position(n.Pos()).Line), strings.Join(strings.Fields(said), " ")})
	}
	for _, group := range file.Comments {
		add(group, group.Text())
	}
	hashed := slices.ContainsFunc(recorded, func(dir string) bool { return strings.HasPrefix(path, "../../"+dir+"/") })
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if n.Tag != nil {
				add(n.Tag, n.Tag.Value)
			}
		case *ast.BasicLit:
			if said, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && !hashed {
				add(n, said)
			}
		}
		return true
	})
	return all, nil
}

// link is a link to another file in a README, without its heading.
var link = regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)]*)?\)`)

// heading is a heading of a README.
var heading = regexp.MustCompile(`(?m)^#+ (.*)$`)

// TestLinks: every relative link of a README leads to a file, and to a heading of it.
func TestLinks(t *testing.T) {
	n := 0
	for _, file := range readmes(t) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(raw), -1) {
			n++
			to := file
			if found[1] != "" {
				to = filepath.Join(filepath.Dir(file), found[1])
			}
			if err := leads(to, strings.TrimPrefix(found[2], "#")); err != "" {
				t.Errorf("%s: link %s: %s", file, found[0][1:], err)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d links found", n)
	}
}

// readmes are the project's Markdown files.
func readmes(t *testing.T) (all []string) {
	t.Helper()
	for _, text := range texts(t) {
		if path, _, _ := strings.Cut(text.at, ".md:"); path != text.at && !slices.Contains(all, path+".md") {
			all = append(all, path+".md")
		}
	}
	return all
}

// leads says what is wrong with a link to a heading of a file, or "".
func leads(file, anchor string) string {
	raw, err := os.ReadFile(file)
	if info, statErr := os.Stat(file); statErr == nil && info.IsDir() {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	if anchor == "" {
		return ""
	}
	for _, found := range heading.FindAllStringSubmatch(string(raw), -1) {
		if anchor == anchorOf(found[1]) {
			return ""
		}
	}
	return "no heading " + anchor
}

// anchorOf is how GitHub names a heading in links.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case strings.ContainsRune("`?!.,:;()/*'\"", r):
			return -1
		}
		return r
	}, strings.ToLower(heading))
}
