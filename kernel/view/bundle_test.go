package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"noema/cache/packfile"
	"noema/kernel/base/redact"
	"noema/kernel/lab"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
)

func bundleOf(l *lab.Lab, results ...*lab.Result) Bundle {
	b := Bundle{Lab: l, Noema: "test"}
	for _, r := range results {
		b.Runs = append(b.Runs, r.Run)
	}
	return b
}

func write(t testing.TB, b Bundle, dir string) Written {
	t.Helper()
	w, err := b.Write(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// filesIn are the files of a folder by their names.
func filesIn(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(os.DirFS(dir), path)
		found[path] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// crawl asks a file server for the first page and for all that pages lead to, and returns
// the paths that it found.
func crawl(t testing.TB, base string) map[string]bool {
	t.Helper()
	seen, todo := map[string]bool{}, []string{base}
	for len(todo) > 0 {
		address := todo[0]
		todo = todo[1:]
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if seen[u.Path] {
			continue
		}
		seen[u.Path] = true
		resp, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(address, base) {
			t.Errorf("%s says %d", address, resp.StatusCode)
			continue
		}
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			continue
		}
		for _, m := range linked.FindAllSubmatch(raw, -1) {
			to, err := u.Parse(html.UnescapeString(string(m[2])))
			if err != nil {
				t.Fatal(err)
			}
			if to.Fragment != "" && !bytes.Contains(raw, []byte(`id="`+to.Fragment+`"`)) {
				t.Errorf("%s has no %s", address, to.Fragment)
			}
			to.Fragment = ""
			todo = append(todo, to.String())
		}
	}
	return seen
}

// TestBundleOnAFileServer serves a bundle below a path of a plain file server: every link
// leads to a file, every page is reached, and nothing of the server is in it.
func TestBundleOnAFileServer(t *testing.T) {
	l := newLab(t)
	cafes, big := cafesRun(t, l), bigRun(t, l, 120, 2)
	root := t.TempDir()
	dir := filepath.Join(root, "pages", "study")
	written := write(t, bundleOf(l, cafes, big), dir)
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer server.Close()
	seen := crawl(t, server.URL+"/pages/study/")
	all := filesIn(t, dir)
	if len(all) != written.Files || len(all) < 400 {
		t.Errorf("%d files, said to be %d", len(all), written.Files)
	}
	for name, text := range all {
		rows := strings.Contains(name, "/rows-") // which the script loads
		at := "/pages/study/" + name
		if !seen[at] && !rows && !strings.HasSuffix(name, "run/"+cafes.ID()+"/index.html") && name != "index.html" && name != bundleFile {
			t.Errorf("no link leads to %s", name)
		}
		if strings.Contains(name, ".html") && (strings.Contains(text, `="/`) || strings.Contains(text, "token=") || strings.Contains(text, `type="checkbox" name="run"`)) {
			t.Errorf("%s has something of the server", name)
		}
	}
	run := "run/" + cafes.ID() + "/"
	for name, wants := range map[string][]string{
		"index.html":                        {cafes.ID(), big.ID(), "Content-Security-Policy", " UTC"},
		run + "index.html":                  {cafes.Root(), treeByPack(t, l, cafes), "noema pack verify", `href="index.html?wrong=anot"`[6:]},
		run + "t/00013.html":                {"<svg", "P3/c1", `href="#call-`, `id="call-3"`, "===STRATEGY==="},
		"run/" + big.ID() + "/index.html":   {`data-static="2"`, "index-2.html", `data-fits="group-1 outcome1`, `beats0-1`},
		"run/" + big.ID() + "/index-2.html": {"question 118"},
		"run/" + big.ID() + "/rows-2.js":    {"noemaRows(", "question 118"},
		bundleFile:                          {cafes.Root(), treeByPack(t, l, cafes)},
	} {
		for _, want := range wants {
			if !strings.Contains(all[name], want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}

// treeByPack is the tree hash that a proof of the run has.
func treeByPack(t *testing.T, l *lab.Lab, r *lab.Result) string {
	t.Helper()
	w, err := packfile.NewWriter(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := pack.Source{Lab: l}.Prove(t.Context(), w, r.Run, r.Trials[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// withOption is a run of methods with such options.
func withOption(t testing.TB, l *lab.Lab, values ...string) *lab.Result {
	t.Helper()
	x := lab.Experiment{Task: "cafes", Limit: "1"}
	for _, v := range values {
		x.Methods = append(x.Methods, strings.TrimSuffix("anot?lwt="+v, "?lwt="))
	}
	r, err := l.Run(x)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBundleHasTheSameBytes: neither the order of the runs nor a look in between changes
// anything, and an old bundle is replaced.
func TestBundleHasTheSameBytes(t *testing.T) {
	l := newLab(t)
	a, b := cafesRun(t, l), withOption(t, l, "")
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	write(t, bundleOf(l, a, b), one)
	base, p := serve(t, l)
	visitor(t, base, p)("/compare?run=" + a.ID())
	write(t, bundleOf(l, a), two)
	write(t, bundleOf(l, b, a, b), two)
	x, y := filesIn(t, one), filesIn(t, two)
	if len(x) != len(y) || !strings.Contains(x["index.html"], `href="compare.html"`) || x["compare.html"] == "" {
		t.Errorf("%d files and %d; the first page is\n%s", len(x), len(y), x["index.html"])
	}
	for name := range x {
		if x[name] != y[name] {
			t.Errorf("%s differs", name)
		}
	}
}

// TestSecretsStay plants a key of the user and one of anybody in a prompt, a reply, an
// option, an error and the path of a file.
func TestSecretsStay(t *testing.T) {
	const own, foreign = "planted+own/key=8f3kd02", "sk-planted0123456789abcdefghij"
	dir := filepath.Join(t.TempDir(), "private-folder", foreign)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "replies.yaml")
	if err := os.WriteFile(script, []byte("rules:\n  - match: \"\"\n    reply: \"your key is "+own+" or "+foreign+", see "+dir+"/notes.txt\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLab(t)
	solve := func(ctx context.Context, p lab.Problem, h lab.Host) (lab.Answer, error) {
		text, err := lab.Reply(ctx, h, "ask", p.Query)
		if err != nil {
			return lab.Answer{}, err
		}
		h.Emit(lab.Event{Path: own, Phase: "P1", Kind: "step_result", Text: text, Data: []byte(`{"` + foreign + `": ["` + own + `"]}`)})
		if p.ID == "2" {
			return lab.Answer{}, errors.New("open /elsewhere/of-mine/x.txt: " + own)
		}
		return lab.TextAnswer(text), nil
	}
	if err := l.AddMethod("leaky", solve, lab.Text); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "questions.jsonl")
	lines := fmt.Sprintf(`{"id": "1", "input": "what is in %s/notes.txt? %s", "target": "x"}`+"\n"+`{"id": "2", "input": %q, "target": "y"}`+"\n",
		dir, strings.Repeat("word ", 18)+own, foreign) // the list of samples cuts a key in two
	if err := os.WriteFile(data, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	args := os.Args
	os.Args = []string{args[0], "compare", "--task=" + data} // which a run records
	defer func() { os.Args = args }()
	r, err := l.Run(lab.Experiment{Task: data, Methods: []string{"leaky"}, Model: "scripted/" + script, Question: own})
	if err != nil {
		t.Fatal(err)
	}
	b := bundleOf(l, r, withOption(t, l, foreign))
	b.Redactor = redact.New([]string{own})
	out := filepath.Join(t.TempDir(), "out")
	write(t, b, out)
	marked := 0
	for name, text := range filesIn(t, out) {
		text = html.UnescapeString(text)
		marked += strings.Count(text, redact.Mark)
		for _, secret := range []string{own, foreign, "planted+", "sk-planted", "private-folder", "/elsewhere/of-mine", l.Home()} {
			if strings.Contains(name+text, secret) {
				t.Errorf("%s has %q", name, secret)
			}
		}
	}
	if marked < 10 {
		t.Errorf("%d marks stand where keys were", marked)
	}
	b.Show = Showable()
	write(t, b, out)
	all := filesIn(t, out)
	page, sample := all["run/"+r.ID()+"/index.html"], all["run/"+r.ID()+"/s/00001.html"]
	if !strings.Contains(sample, "private-folder") || !strings.Contains(page, args[0]) || strings.Contains(page+sample, "sk-planted") {
		t.Errorf("with paths and command the pages are:\n%s\n%s", page, sample)
	}
}

// TestHostileNamesGiveSafeFiles: samples and methods may be called anything.
func TestHostileNamesGiveSafeFiles(t *testing.T) {
	l := newLab(t)
	var samples []lab.Sample
	for _, id := range []string{"../../../etc/passwd", evil, strings.Repeat("long", 200), "CON", `a\b:c*?"<>|`, ".", "%2e%2e%2f", "a&page=2#x", "?q=1"} {
		s := lab.Question("q", "x")
		s.ID = id
		samples = append(samples, s)
	}
	tk, err := lab.NewTask("names", samples...)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.AddTask(tk), l.AddMethod("m", func(context.Context, lab.Problem, lab.Host) (lab.Answer, error) {
		return lab.TextAnswer(evil), nil
	}, lab.Text)); err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(lab.Experiment{Task: "names", Methods: []string{"m"}})
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	write(t, bundleOf(l, r, hostileRun(t, l), withOption(t, l, "../<script>\"'"+strings.Repeat("x", 700))), filepath.Join(root, "out"))
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer server.Close()
	crawl(t, server.URL+"/out/")
	plain := regexp.MustCompile(`^[a-z0-9./-]{1,64}$`)
	for name, text := range filesIn(t, root) {
		if !plain.MatchString(name) || strings.Contains(name, "..") {
			t.Errorf("a file is called %q", name)
		}
		if n := strings.Count(text, "<script"); strings.HasSuffix(name, ".html") && n != 1 || strings.Contains(text, "<img src=x") || len(text) > 1<<20 {
			t.Errorf("%s has %d scripts and %d bytes", name, n, len(text))
		}
	}
}

func TestBundleLeavesOtherFoldersAlone(t *testing.T) {
	l := newLab(t)
	b := bundleOf(l, bigRun(t, l, 3, 1))
	root := t.TempDir()
	mine, out := filepath.Join(root, "mine"), filepath.Join(root, "out")
	if err := errors.Join(os.Mkdir(mine, 0o755), os.WriteFile(filepath.Join(mine, "thesis.tex"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	refused := func(dir, want string) {
		t.Helper()
		if _, err := b.Write(t.Context(), dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	refused(mine, "not empty and not a bundle: name a new folder")
	refused(filepath.Join(mine, "thesis.tex"), "name a folder")
	write(t, b, out)
	if err := os.WriteFile(filepath.Join(out, "CNAME"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(out, `"CNAME" added, which would be lost`)
	b.Show = []string{"keys"}
	refused(out, "choose among paths, command")
	unfinished := *b.Runs[0]
	unfinished.Status = record.Unfinished
	b.Show, b.Runs = nil, []*record.Run{&unfinished}
	refused(filepath.Join(root, "new"), "run its command again")
}

// TestInterruptedBundle ends a bundle at each of its first files: the folder stays as it
// was, and nothing lies beside it.
func TestInterruptedBundle(t *testing.T) {
	l := newLab(t)
	b := bundleOf(l, bigRun(t, l, 3, 1))
	root := t.TempDir()
	out := filepath.Join(root, "out")
	for _, old := range []bool{false, true} {
		for n := range 8 {
			ctx := &ending{Context: t.Context(), left: n}
			if _, err := b.Write(ctx, out); !errors.Is(err, context.Canceled) {
				t.Errorf("after %d files: %v", n, err)
			}
			entries, err := os.ReadDir(root)
			if err != nil || len(entries) != map[bool]int{true: 1}[old] {
				t.Errorf("after %d files there is %v, %v", n, entries, err)
			}
		}
		write(t, b, out)
	}
	if names := filesIn(t, out); names[bundleFile] == "" || names["index.html"] == "" {
		t.Errorf("the bundle is %v", names)
	}
}

// ending is a context that is cancelled after it was asked so many times.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestNamesThatBecomeOne: two methods that differ in a key alone have no two pages.
func TestNamesThatBecomeOne(t *testing.T) {
	l := newLab(t)
	key := func(n int) string { return fmt.Sprintf("sk-%020d", n) }
	if _, err := bundleOf(l, withOption(t, l, key(1), key(2))).Write(t.Context(), filepath.Join(t.TempDir(), "out")); err == nil || !strings.Contains(err.Error(), "once keys and folders are taken out") {
		t.Errorf("the bundle says %v", err)
	}
}
