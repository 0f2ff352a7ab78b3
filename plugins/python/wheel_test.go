package python_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	pack "noema/plugins/python"
)

// contents are the files of a wheel by name.
func contents(t *testing.T, wheel []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range r.File {
		opened, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(opened)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = string(raw)
		if want := strings.HasSuffix(f.Name, "/scripts/noema"); f.Mode()&0o111 != 0 != want {
			t.Errorf("%s has mode %v", f.Name, f.Mode())
		}
	}
	return all
}

// TestWheels holds the wheels to PEP 427, and to what each needs.
func TestWheels(t *testing.T) {
	for _, platform := range append(pack.Platforms(), "") {
		name, wheel, err := pack.Wheel()
		needs, tag := "\nRequires-Dist: grpcio>=1.44\n", "py3-none-any"
		if platform != "" {
			name, wheel, err = pack.WheelWith(platform, []byte("the command"))
			needs, tag = "\nRequires-Dist: grpcio>=1.44; extra == \"plugins\"\n", strings.TrimSuffix(strings.SplitN(name, "-", 3)[2], ".whl")
		}
		if err != nil {
			t.Fatal(err)
		}
		files := contents(t, wheel)
		info := strings.Join(strings.SplitN(name, "-", 3)[:2], "-") + ".dist-info/"
		if m := files[info+"METADATA"]; !strings.Contains(m, needs) || !strings.Contains(m, "\nRequires-Dist: protobuf>=3.19\n") {
			t.Errorf("%s: metadata is %.700s", name, m)
		}
		if script := files[strings.TrimSuffix(info, "dist-info/")+"data/scripts/noema"]; script != "the command" && platform != "" {
			t.Errorf("%s: the command is %q", name, script)
		}
		for one := range strings.SplitSeq(strings.TrimPrefix(tag, "py3-none-"), ".") {
			if !strings.Contains(files[info+"WHEEL"], "\nTag: py3-none-"+one+"\n") {
				t.Errorf("%s: %s", name, files[info+"WHEEL"])
			}
		}
		for line := range strings.Lines(files[info+"RECORD"]) {
			file, rest, _ := strings.Cut(strings.TrimSpace(line), ",")
			sum := sha256.Sum256([]byte(files[file]))
			if want := fmt.Sprintf("sha256=%s,%d", base64.RawURLEncoding.EncodeToString(sum[:]), len(files[file])); rest != want && file != info+"RECORD" {
				t.Errorf("%s: record of %s is %s, want %s", name, file, rest, want)
			}
		}
	}
	if _, _, err := pack.WheelWith("plan9/amd64", nil); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
		t.Error(err)
	}
}

// TestTypes holds the package to mypy's strict rules.
func TestTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	path, lack := interpreter()
	if lack != "" {
		t.Skip(lack)
	}
	if err := exec.Command(path, "-c", "import mypy").Run(); err != nil {
		t.Skip(path + " lacks mypy: pip install mypy, or name another Python by NOEMA_TEST_PYTHON")
	}
	cmd := exec.Command(path, "-m", "mypy", "--cache-dir", t.TempDir())
	cmd.Env = os.Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
