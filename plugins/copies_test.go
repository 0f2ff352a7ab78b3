package plugins

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder is a plugin's folder with code of its own and code that it shares.
func folder(t *testing.T) (src Source, shared string) {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "p")
	shared = filepath.Join(base, "shared.py")
	for path, text := range map[string]string{
		filepath.Join(dir, ManifestName): "command: [python3, main.py]\n",
		filepath.Join(dir, "main.py"):    "import shared\n",
		filepath.Join(base, "data", "x"): "x",
		shared:                           "one = 1\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"shared.py": "../shared.py", "data": "../data", "broken": "../nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	src, err := At(dir)
	if err != nil {
		t.Fatal(err)
	}
	return src, shared
}

func digestOf(t *testing.T, src Source) string {
	t.Helper()
	d, err := CodeDigest(src)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSnapshotIsTheCode: the copy that stands for a digest is whole, of that very
// code, and stays so.
func TestSnapshotIsTheCode(t *testing.T) {
	src, shared := folder(t)
	copies := Copies{t.TempDir()}
	digest := digestOf(t, src)
	at, err := copies.Snapshot(src, digest)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"shared.py": "one = 1\n", "main.py": "import shared\n", "data/x": "x"} {
		raw, err := os.ReadFile(filepath.Join(at.Dir, name))
		if err != nil || string(raw) != want {
			t.Errorf("%s is %q, %v", name, raw, err)
		}
	}
	for _, name := range []string{"shared.py", "main.py", ManifestName} {
		info, err := os.Lstat(filepath.Join(at.Dir, name))
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o222 != 0 {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
	if digestOf(t, at) != digest {
		t.Error("the copy has another digest")
	}

	if err := os.WriteFile(shared, []byte("one = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := digestOf(t, src)
	if changed == digest {
		t.Error("a linked file is not in the digest")
	}
	// A change between digest and copy leaves no copy under the wrong name.
	if err := os.WriteFile(shared, []byte("one = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := copies.Snapshot(src, changed); err == nil || !strings.Contains(err.Error(), "changed while it was copied: run again") {
		t.Errorf("%v", err)
	}
	if at, err = copies.Snapshot(src, digestOf(t, src)); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(at.Dir, "shared.py")); err != nil || string(raw) != "one = 3\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

// TestBytecodeIsNotCopied: bytecode beside the code, which may be of other code, is in no copy
// and in no digest.
func TestBytecodeIsNotCopied(t *testing.T) {
	src, _ := folder(t)
	digest := digestOf(t, src)
	for _, dir := range []string{src.Dir, filepath.Join(src.Dir, "sub")} {
		file := filepath.Join(dir, "__pycache__", "main.pyc")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("other code"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if digestOf(t, src) != digest {
		t.Error("bytecode changes the digest")
	}
	at, err := Copies{t.TempDir()}.Snapshot(src, digest)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{at.Dir, filepath.Join(at.Dir, "sub")} {
		if _, err := os.Lstat(filepath.Join(dir, "__pycache__")); !os.IsNotExist(err) {
			t.Errorf("the copy has bytecode in %s: %v", dir, err)
		}
	}
}

// TestHomeIsNotCode: what noema keeps in a folder of its own, wherever below the program's,
// is in no copy and no digest; and a folder is not copied into itself without end.
func TestHomeIsNotCode(t *testing.T) {
	for _, home := range []string{"home", "a/b/.noema"} {
		src, _ := folder(t)
		digest := digestOf(t, src)
		store := filepath.Join(src.Dir, home, "store")
		if err := os.MkdirAll(store, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"FORMAT", "data"} {
			if err := os.WriteFile(filepath.Join(store, name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if digestOf(t, src) != digest {
			t.Errorf("%s changes the digest", home)
		}
		at, err := Copies{filepath.Join(src.Dir, home, "code")}.Snapshot(src, digest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(at.Dir, home, "store")); !os.IsNotExist(err) {
			t.Errorf("the copy holds %s: %v", home, err)
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("agent.py", []byte("print(1)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := Exec(filepath.Join(dir, "fresh", "programs"), "python3 agent.py", nil) // the store is not there yet
	if err != nil {
		t.Fatal(err)
	}
	if all, err := CodeFiles(src); err != nil || len(all) != 2 { // with its manifest
		t.Errorf("%q, %v", all, err)
	}
}
