package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"noema/cache"
	"noema/cache/packfile"
	"noema/kernel/base/redact"
	"noema/kernel/lab"
)

// Verify computes again what a pack claims.
type Verify struct {
	Catalog  lab.Catalog
	Redactor *redact.Redactor
	Stderr   io.Writer   // progress; may be nil
	Say      func(Claim) // told of each claim when it is known; may be nil
	Cited    []byte      // a file that [LaTeX] or [JSON] wrote, whose numbers to check; nil for none

	// Code of plugins that came in the pack runs only where noema can isolate it, unless
	// Weak permits it, and for no longer than Timeout a run; zero means an hour.
	Weak      bool
	Timeout   time.Duration
	Isolation func() (inForce string, full bool) // of such code; nil for [plugins.Isolated]

	// Rebuild compiles a package, or a file, in a folder of source into a binary, isolated;
	// missing says what the machine lacks for it. What it makes runs in the place of the
	// pack's programs. Nil runs these.
	Rebuild func(ctx context.Context, dir, pkg, binary string) (missing string, err error)
}

// Claim is one thing that a pack says and what came of checking it.
type Claim struct {
	Run   string `json:"run,omitempty"`       // empty for the pack as a whole
	What  string `json:"what"`                // such as "root hash ca6043486e68 is recomputed"
	Wrong string `json:"wrong,omitempty"`     // the first difference, with its place; empty if the claim holds
	Why   string `json:"unchecked,omitempty"` // why nobody can check it
	Value string `json:"value,omitempty"`     // what the pack says, where it is believed
}

// Verdict is what verifying a pack found.
type Verdict struct {
	OK       bool      `json:"ok"`
	Digest   string    `json:"digest"` // of the pack
	Runs     []Checked `json:"runs"`
	Claims   []Claim   `json:"claims"` // what was checked
	Failures []Claim   `json:"failures"`
	// Unchecked is what the pack says and nobody can check, because of what was taken out
	// of it or was never recorded.
	Unchecked []Claim `json:"unchecked,omitempty"`
	// Believed is every value of the pack that no computation shows, such as times.
	Believed []Claim `json:"believed,omitempty"`
}

// Checked is a run of a verified pack.
type Checked struct {
	Run  string `json:"run"`
	Root string `json:"root_hash"` // as recomputed; empty if it could not be
	Same bool   `json:"same"`
	Tree string `json:"tree,omitempty"`
}

// verification carries out one Verify.
type verification struct {
	Verify
	pack    *packfile.File
	study   *Study
	home    string // a temporary folder
	lab     *lab.Lab
	store   *cache.Store // of lab
	verdict Verdict
	rounded atomic.Pointer[string] // a fraction of a trial that differs in its last digits
	during  context.Context        // bounds what the lab does now
	code    map[string]string      // paths of unpacked plugins by digest
	rebuilt map[string]bool        // digests of those that were compiled here
}

// Do verifies a pack. The error is of what kept it from looking; what the pack gets wrong
// is in the verdict.
func (v Verify) Do(ctx context.Context, p *packfile.File) (*Verdict, error) {
	x, err := v.begin(ctx, p)
	if err != nil {
		return nil, err
	}
	x.all(ctx)
	x.verdict.OK = len(x.verdict.Failures) == 0
	return &x.verdict, errors.Join(ctx.Err(), x.end())
}

// keys warns of code with the shape of a key, which packs of before code was chosen may have.
func (x *verification) keys() {
	for _, e := range x.pack.Entries() {
		if !strings.HasPrefix(e.Name, codeFolder+"/") {
			continue
		}
		raw, err := x.pack.Read(e.Name)
		if line, found := redact.Shape(raw); err == nil && found {
			x.note(&x.verdict.Unchecked, Claim{What: fmt.Sprintf("%s is free of keys", e.Name),
				Why: fmt.Sprintf("line %d has the shape of a key: do not pass the pack on, and replace the key", line)})
		}
	}
}

// all checks all claims.
func (x *verification) all(ctx context.Context) {
	what := fmt.Sprintf("%d files are whole, in %d bytes", len(x.pack.Entries()), x.pack.Size())
	if !x.claim("", what, x.pack.Check(ctx)) {
		return
	}
	x.keys()
	if x.pack.Has(proofName) {
		x.proof(ctx)
		if x.Cited != nil {
			x.claim("", "the cited numbers are those of the tables", errors.New("the pack proves one trial, and has no tables"))
		}
		return
	}
	records, err := x.readAll(ctx)
	what = "its records can be read"
	if err == nil {
		what = fmt.Sprintf("%d records are under the keys of what they answer", records.New)
	}
	if !x.claim("", what, err) || !x.rebuild(ctx) {
		return
	}
	for _, run := range x.study.Runs {
		x.run(ctx, run)
	}
	for _, id := range x.study.Studies {
		x.ofStudy(ctx, id)
	}
	x.said("", "written by", brief(fmt.Sprintf("%q", x.study.Noema)))
	if len(x.verdict.Failures) == 0 {
		x.claim("", "written again from what it holds, it is the same in every byte", x.again(ctx))
	}
	if x.onlyAnswers() {
		x.unchecked("", "a result", "the pack holds no run, only answers")
	}
	if x.Cited == nil {
		return
	}
	numbers, err := x.numbers()
	n := 0
	if err == nil {
		n, err = checkCited(x.Cited, numbers)
	}
	what = "the cited numbers are those of the tables"
	if err == nil {
		what = fmt.Sprintf("%d cited numbers are those of the tables", n)
	}
	x.claim("", what, err)
}

// begin makes a place to verify in.
func (v Verify) begin(ctx context.Context, p *packfile.File) (*verification, error) {
	home, err := os.MkdirTemp("", "noema-verify-")
	if err != nil {
		return nil, err
	}
	v.Stderr = cmp.Or(v.Stderr, io.Discard)
	x := &verification{Verify: v, pack: p, home: home, code: map[string]string{}, rebuilt: map[string]bool{}, during: ctx, verdict: Verdict{Digest: p.Digest(), Runs: []Checked{}, Failures: []Claim{}}}
	x.lab = lab.Open(lab.Options{Home: home, Catalog: v.Catalog, Redactor: v.Redactor, Rebuilt: x.rebuilt, Context: func() context.Context { return x.during }, Stderr: v.Stderr})
	if x.store, err = x.lab.Store(); err != nil {
		return nil, errors.Join(err, x.end())
	}
	return x, nil
}

// end removes what was made to verify.
func (x *verification) end() error { return errors.Join(x.lab.Close(), removeAll(x.home)) }

// removeAll removes a folder also where files of code may not be written.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700) // what cannot be removed is told below
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// claim notes what came of a claim and reports whether it holds.
func (x *verification) claim(run, what string, err error) bool {
	c := Claim{Run: run, What: what}
	if err != nil {
		c.Wrong = bounded(err.Error())
		x.verdict.Failures = append(x.verdict.Failures, c)
	}
	x.note(&x.verdict.Claims, c)
	return err == nil
}

// note keeps a claim in a list, and tells of it.
func (x *verification) note(list *[]Claim, c Claim) {
	*list = append(*list, c)
	if x.Say != nil {
		x.Say(c)
	}
}

// bounded cuts a text that code of the pack may have made long.
func bounded(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// readAll reads what all runs share.
func (x *verification) readAll(ctx context.Context) (records *Imported, err error) {
	if x.study, err = Read(x.pack); err != nil {
		return nil, err
	}
	if err := x.unpack(); err != nil {
		return nil, err
	}
	records, err = addRecords(ctx, x.pack, x.store, x.out().has(prompts, items))
	if err == nil && len(records.Conflicts) > 0 {
		err = fmt.Errorf("two records claim one key: %s", records.Conflicts[0])
	}
	if err == nil && records.Redacted > 0 && len(x.out()) == 0 {
		err = fmt.Errorf("%d records lack parts, and %s says that nothing was taken out", records.Redacted, studyName)
	}
	return records, err
}

// unpack writes the code of plugins to the temporary folder.
func (x *verification) unpack() error {
	for i, c := range x.study.Code {
		dir := filepath.Join(x.home, "unpacked", fmt.Sprint(i))
		at, err := unpackCode(x.pack, c, dir)
		if err != nil {
			return err
		}
		x.code[c.Digest] = at
		if c.Folder {
			beside(dir)
		}
	}
	return nil
}

// beside gives unpacked code the packages of the working directory: no pack has them, and its
// code looks for them beside itself.
func beside(dir string) {
	for _, name := range []string{".venv", "node_modules"} {
		at, err := filepath.Abs(name)
		if info, failed := os.Stat(at); err == nil && failed == nil && info.IsDir() {
			_ = os.Symlink(at, filepath.Join(dir, name)) // a pack that has its own keeps it
		}
	}
}
