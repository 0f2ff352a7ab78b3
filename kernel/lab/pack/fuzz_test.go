package pack_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/session/builtin"
	"noema/plugins"
)

// part is an entry of a pack as it lies in the zip.
type part struct {
	name string
	raw  []byte
}

// text is what the entry holds.
func (p part) text(t testing.TB) []byte {
	if !strings.HasSuffix(p.name, ".zst") {
		return p.raw
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	text, err := d.DecodeAll(p.raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// with is the entry with other content, compressed as a pack's writer does unless at says
// otherwise.
func (p part) with(t testing.TB, text []byte, at ...zstd.EOption) part {
	if !strings.HasSuffix(p.name, ".zst") {
		return part{p.name, text}
	}
	options := append([]zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithWindowSize(4 << 20)}, at...)
	e, err := zstd.NewWriter(nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	return part{p.name, e.EncodeAll(text, nil)}
}

// partsOf reads a pack without its manifest.
func partsOf(t testing.TB, file string) (parts []part) {
	r, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.File {
		raw, err := readZip(f)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name != "manifest.json" {
			parts = append(parts, part{f.Name, raw})
		}
	}
	return parts
}

func readZip(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(r)
	return b.Bytes(), err
}

// zipOf is a pack of these entries with a manifest whose digests are right; bend may change
// the manifest's text and each entry's header.
func zipOf(t testing.TB, parts []part, bend func(h *zip.FileHeader), list func([]byte) []byte, comment string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	add := func(name string, raw []byte) {
		h := &zip.FileHeader{Name: name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(raw), CompressedSize64: uint64(len(raw)), UncompressedSize64: uint64(len(raw)), Flags: 0x800}
		//lint:ignore SA1019 as the writer of packs does
		h.ModifiedDate = 1<<5 | 1
		bend(h)
		f, err := w.CreateRaw(h)
		if err == nil {
			_, err = f.Write(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m := struct {
		Format  int              `json:"format"`
		Entries []packfile.Entry `json:"entries"`
	}{Format: 1}
	for _, p := range parts {
		m.Entries = append(m.Entries, packfile.Entry{Name: p.name, Size: int64(len(p.raw)), SHA256: fmt.Sprintf("%x", sha256.Sum256(p.raw))})
		add(p.name, p.raw)
	}
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	add("manifest.json", list(append(raw, '\n')))
	if err := errorsOf(w.SetComment(comment), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func plainly(h *zip.FileHeader) {}
func same(raw []byte) []byte    { return raw }

// token finds the scalars of JSON texts.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?|true|false|null`)

// mutant is a changed pack. News is a value that it has and the other has not.
type mutant struct {
	what string
	raw  []byte
	news string
}

// mutate changes one thing of a pack, as somebody does who knows the format.
func mutate(t testing.TB, r *rand.Rand, parts []part) mutant {
	parts = slices.Clone(parts)
	i := r.IntN(len(parts))
	p, text := parts[i], parts[i].text(t)
	plain := func(what, news string) mutant {
		return mutant{fmt.Sprintf("%s of %s", what, p.name), zipOf(t, parts, plainly, same, ""), news}
	}
	put := func(now []byte) { parts[i] = p.with(t, now) }
	switch kind := r.IntN(16); kind {
	case 0, 1, 2, 3: // a value, here or wherever it stands
		all := token.FindAllIndex(text, -1)
		if len(all) == 0 {
			break
		}
		at := all[r.IntN(len(all))]
		old := string(text[at[0]:at[1]])
		news := other(r, old)
		put(slices.Concat(text[:at[0]], []byte(news), text[at[1]:]))
		if kind == 0 && len(old) > 4 {
			for j, q := range parts {
				parts[j] = q.with(t, bytes.ReplaceAll(q.text(t), []byte(strings.Trim(old, `"`)), []byte(strings.Trim(news, `"`))))
			}
			return plain("everywhere "+old+" for "+news+", which is", news)
		}
		return plain(old+" for "+news, news)
	case 4, 5: // a key that is not known, or one twice
		at := bytes.IndexByte(text[r.IntN(len(text)):], '{')
		if at < 0 {
			at = bytes.IndexByte(text, '{')
		}
		if at < 0 {
			break
		}
		key := []string{`"verdict":"anot wins",`, `"format":1,`, `"Name":"x",`, `"question":"is anot best?",`}[r.IntN(4)]
		put(slices.Concat(text[:at+1], []byte(key), text[at+1:]))
		return plain("key "+key, "")
	case 6: // a byte
		at := r.IntN(len(text))
		now := slices.Clone(text)
		now[at] ^= 1 << r.IntN(7)
		put(now)
		return plain(fmt.Sprintf("byte %d", at), "")
	case 7: // text is added, or lines are left out, doubled or in another order
		lines := bytes.SplitAfter(text, []byte("\n"))
		k := r.IntN(len(lines))
		lines = [][][]byte{slices.Insert(slices.Clone(lines), k, []byte("anot wins with accuracy 1.00\n")), slices.Delete(slices.Clone(lines), k, k+1), slices.Insert(slices.Clone(lines), k, lines[k]), append(slices.Clone(lines[k:]), lines[:k]...)}[r.IntN(4)]
		put(bytes.Join(lines, nil))
		return plain(fmt.Sprintf("line %d", k+1), "")
	case 8:
		parts = slices.Delete(parts, i, i+1)
		return plain("removal", "")
	case 9:
		name := []string{"RESULTS.md", folderOf(p.name) + "notes.json", strings.ToUpper(p.name), "code/0/x.py", strings.Replace(p.name, "00000", "00001", 1), strings.Replace(p.name, "00000", "00007", 1)}[r.IntN(6)]
		parts = slices.Insert(parts, r.IntN(len(parts)+1), part{name, p.raw})
		return plain("copy as "+name, "")
	case 10:
		parts[i].name = []string{"x/" + p.name, p.name + ".txt", strings.ToUpper(p.name), "readme.md"}[r.IntN(4)]
		return plain("another name, "+parts[i].name+",", "")
	case 11:
		j := r.IntN(len(parts))
		parts[i], parts[j] = parts[j], parts[i]
		return plain("place "+strconv.Itoa(j), "")
	case 12: // another compression of the same
		if !strings.HasSuffix(p.name, ".zst") {
			break
		}
		skipped := append([]byte{0x50, 0x2a, 0x4d, 0x18, 9, 0, 0, 0}, "anot wins"...)
		parts[i] = []part{p.with(t, text, zstd.WithEncoderLevel(zstd.SpeedFastest)), p.with(t, text, zstd.WithEncoderCRC(false)), {p.name, slices.Concat(p.raw, skipped)}, {p.name, slices.Concat(skipped, p.raw)}}[r.IntN(4)]
		return plain("compression", "")
	}
	return bent(t, r, parts)
}

func folderOf(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }

// bent changes what zip tools do not show.
func bent(t testing.TB, r *rand.Rand, parts []part) mutant {
	n := r.IntN(len(parts) + 1)
	one := func(change func(h *zip.FileHeader)) func(h *zip.FileHeader) {
		at := 0
		return func(h *zip.FileHeader) {
			if at++; at-1 == n {
				change(h)
			}
		}
	}
	whole := zipOf(t, parts, plainly, same, "")
	switch kind := r.IntN(8); kind {
	case 0:
		return mutant{"a comment of the zip", zipOf(t, parts, plainly, same, "anot wins"), ""}
	case 1:
		return mutant{"a comment of an entry", zipOf(t, parts, one(func(h *zip.FileHeader) { h.Comment = "anot wins" }), same, ""), ""}
	case 2:
		return mutant{"an extra field", zipOf(t, parts, one(func(h *zip.FileHeader) { h.Extra = []byte{1, 2, 2, 0, 7, 7} }), same, ""), ""}
	case 3:
		//lint:ignore SA1019 as the writer of packs does
		return mutant{"a date", zipOf(t, parts, one(func(h *zip.FileHeader) { h.ModifiedTime = uint16(1 + r.IntN(1<<15)) }), same, ""), ""}
	case 4:
		return mutant{"a mode", zipOf(t, parts, one(func(h *zip.FileHeader) { h.SetMode(0o755) }), same, ""), ""}
	case 5:
		return mutant{"data behind the end", append(whole, "anot wins"...), ""}
	case 6:
		return mutant{"data before the begin", append([]byte("anot wins"), whole...), ""}
	}
	twice := append(slices.Clone(parts), parts[r.IntN(len(parts))])
	return mutant{"a name twice, or a key of the manifest", zipOf(t, twice, plainly, func(raw []byte) []byte { return bytes.Replace(raw, []byte("{"), []byte(`{"verdict":1,`), r.IntN(2)) }, ""), ""}
}

// other is another value of the same kind.
func other(r *rand.Rand, old string) string {
	switch {
	case old == "true":
		return "false"
	case old == "false", old == "null":
		return "true"
	case old[0] == '"':
		if _, err := time.Parse(time.RFC3339, strings.Trim(old, `"`)); err == nil {
			return fmt.Sprintf(`"2031-01-02T03:04:%02dZ"`, r.IntN(60))
		}
		return []string{`"anot wins"`, old[:len(old)-1] + `x"`, `"` + strings.Repeat("0", max(1, len(old)-2)) + `"`}[r.IntN(3)]
	}
	return []string{"1" + strings.TrimPrefix(old, "-"), old + "7", "424242"}[r.IntN(3)]
}

// packsToForge are packs of each kind that noema writes.
func packsToForge(t *testing.T) map[string]string {
	l := openLab(t)
	e := lab.Experiment{Task: "cafes?n=10", Methods: []string{"direct", "anot"}, Limit: "1", Model: "sim?error=0.1", Name: "first", Question: "is decomposing of use?"}
	r, err := l.Run(e)
	if err != nil {
		t.Fatal(err)
	}
	store, err := l.Store()
	if err != nil {
		t.Fatal(err)
	}
	labels := runner.LabelFile(store, r.ID())
	if err := errorsOf(os.MkdirAll(filepath.Dir(labels), 0o700), os.WriteFile(labels, []byte(`{"sample":"R00","answer":[1],"label":"wrong"}`+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	fork, err := r.Fork("direct/R00/1/answer", "1, 2, 3, 4, 5")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"whole": write(t, l, r.Run), "fork": write(t, l, r.Run, fork.Run),
		"without prompts": redacted(t, l, []string{"prompts"}, r.Run), "without items": redacted(t, l, []string{"items", "replies"}, r.Run),
	}
	for name, make := range map[string]func(context.Context, *packfile.Writer) (string, error){
		"proof": func(ctx context.Context, w *packfile.Writer) (string, error) {
			return pack.Source{Lab: l}.Prove(ctx, w, r.Run, r.Trials[1].ID)
		},
		"answers": pack.Source{Lab: l, Noema: "test"}.WriteRecords,
	} {
		var b bytes.Buffer
		w, err := packfile.NewWriter(&b)
		if err == nil {
			_, err = make(t.Context(), w)
		}
		if err != nil {
			t.Fatal(err)
		}
		files[name] = save(t, b.Bytes())
	}
	files["code for a program that is not here"] = forged(t, func(t *testing.T, l *lab.Lab, run *record.Run, _ []*record.Trial) {
		dir := t.TempDir()
		if err := errorsOf(os.WriteFile(filepath.Join(dir, plugins.ManifestName), []byte("name: direct\ncommand: [no-such-interpreter, x.py]\n"), 0o500), os.WriteFile(filepath.Join(dir, "x.py"), []byte("print(1)\n"), 0o500)); err != nil {
			t.Fatal(err)
		}
		src, err := plugins.At(dir)
		if err != nil {
			t.Fatal(err)
		}
		digest, err := plugins.CodeDigest(src)
		if err != nil {
			t.Fatal(err)
		}
		run.Plugins[0] = record.Plugin{Method: "direct", Path: dir, Digest: digest}
		run.Config.Methods[0].Code = digest
	})
	return files
}

// found is what verifying tells of a pack: why it is refused, or the lines of what is
// believed and not checked.
func found(t *testing.T, raw []byte, dir string) (refused string, listed []string) {
	file := filepath.Join(dir, "forged.noema")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Error(err)
		return "", nil
	}
	p, err := packfile.Open(file)
	if err != nil {
		return err.Error(), nil
	}
	defer p.Close()
	v, err := pack.Verify{Catalog: builtin.Catalog{}}.Do(t.Context(), p)
	if err != nil {
		t.Error(err)
		return "", nil
	}
	if !v.OK {
		return v.Failures[0].What + ": " + v.Failures[0].Wrong, nil
	}
	for _, c := range slices.Concat(v.Unchecked, v.Believed) {
		listed = append(listed, fmt.Sprint(c.Run, " ", c.What, ": ", c.Why, c.Value))
	}
	slices.Sort(listed)
	return "", listed
}

// TestForgeries changes packs of every kind in ways that nobody chose: 10,000 with
// NOEMA_BENCH. Each change is refused, or a line of what is believed shows it, or the pack
// holds the same as before.
func TestForgeries(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	n, seed := 100, uint64(30)
	if os.Getenv("NOEMA_BENCH") != "" {
		n = 10_000
	}
	bases := packsToForge(t)
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range bases {
			if !yield(name) {
				return
			}
		}
	})
	parts, before := map[string][]part{}, map[string][]string{}
	for _, name := range names {
		parts[name] = partsOf(t, bases[name])
		raw, err := os.ReadFile(bases[name])
		if err != nil || !bytes.Equal(raw, zipOf(t, parts[name], plainly, same, "")) {
			t.Fatalf("%s: the test does not write packs as noema does (%v)", name, err)
		}
		refused, listed := found(t, raw, t.TempDir())
		if refused != "" {
			t.Fatalf("%s, unchanged, is refused: %s", name, refused)
		}
		before[name] = listed
	}
	outcomes := make([]string, n)
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for i := range n {
		all.Go(func() error {
			name := names[i%len(names)]
			outcomes[i] = judge(t, name, parts[name], before[name], mutate(t, rand.New(rand.NewPCG(seed, uint64(i))), parts[name]))
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, o := range outcomes {
		count[o]++
	}
	t.Logf("%d mutations: %v", n, count)
	if count["refused"] < n/2 || count["listed"] == 0 {
		t.Errorf("the mutations show little: %v", count)
	}
}

// judge is the outcome of a mutation.
func judge(t *testing.T, name string, parts []part, before []string, m mutant) string {
	dir, err := os.MkdirTemp("", "noema-forged-")
	if err != nil {
		t.Error(err)
		return ""
	}
	defer os.RemoveAll(dir)
	refused, listed := found(t, m.raw, dir)
	fresh := append(beyond(listed, before), beyond(before, listed)...)
	shown := slices.ContainsFunc(fresh, func(line string) bool {
		return strings.Contains(line, strings.Trim(m.news, `"`)) || strings.Contains(line, "sha256") || strings.Contains(line, "the compression of 1 files, such as")
	})
	switch {
	case refused != "":
		return "refused"
	case shown:
		return "listed"
	case len(fresh) == 0 && sameContent(t, parts, filepath.Join(dir, "forged.noema")):
		return "without effect"
	}
	t.Errorf("%s: %s is accepted; new lines: %q", name, m.what, fresh)
	return "accepted"
}

// beyond is what one list has and another has not.
func beyond(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(line string) bool { return slices.Contains(other, line) })
}

func sameContent(t *testing.T, parts []part, file string) bool {
	return slices.EqualFunc(parts, partsOf(t, file), func(a, b part) bool { return a.name == b.name && bytes.Equal(a.text(t), b.text(t)) })
}
