// Package python holds the SDK for methods in Python, and writes it as a wheel, so
// that pip installs it where there is no clone of noema.
package python

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

//go:embed pyproject.toml README.md src/noema/*.py src/noema/py.typed src/noema/method.binpb
var sources embed.FS

// Wheel returns the SDK as a wheel and the wheel's file name. The bytes are the
// same at each call.
func Wheel() (name string, wheel []byte, err error) {
	version, metadata, err := metadata()
	if err != nil {
		return "", nil, fmt.Errorf("make the Python SDK: %w", err)
	}
	w := &wheelWriter{info: "noema-" + version + ".dist-info"}
	w.zip = zip.NewWriter(&w.out)
	names, err := fs.Glob(sources, "src/noema/*")
	for _, name := range names {
		raw, readErr := sources.ReadFile(name)
		if err = readErr; err != nil {
			break
		}
		w.add(path.Join("noema", path.Base(name)), raw)
	}
	w.add(w.info+"/METADATA", metadata)
	w.add(w.info+"/WHEEL", []byte("Wheel-Version: 1.0\nGenerator: noema\nRoot-Is-Purelib: true\nTag: py3-none-any\n"))
	w.record.WriteString(w.info + "/RECORD,,\n")
	w.add(w.info+"/RECORD", w.record.Bytes())
	if w.err == nil {
		w.err = w.zip.Close()
	}
	if err == nil {
		err = w.err
	}
	if err != nil {
		return "", nil, fmt.Errorf("make the Python SDK: %w", err)
	}
	return "noema-" + version + "-py3-none-any.whl", w.out.Bytes(), nil
}

// wheelWriter writes files to a wheel until one fails.
type wheelWriter struct {
	info   string // the folder of what is told of the package
	zip    *zip.Writer
	out    bytes.Buffer
	record bytes.Buffer // a line for each file
	err    error
}

func (w *wheelWriter) add(name string, raw []byte) {
	if w.err != nil {
		return
	}
	fmt.Fprintf(&w.record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum(raw)), len(raw))
	f, err := w.zip.Create(name)
	if err == nil {
		_, err = f.Write(raw)
	}
	w.err = err
}

func sum(raw []byte) []byte {
	s := sha256.Sum256(raw)
	return s[:]
}

// metadata is the version and the core metadata of the SDK, by pyproject.toml.
func metadata() (version string, text []byte, err error) {
	project, err := sources.ReadFile("pyproject.toml")
	if err != nil {
		return "", nil, err
	}
	readme, err := sources.ReadFile("README.md")
	if err != nil {
		return "", nil, err
	}
	field := func(name string) string {
		found := regexp.MustCompile(`(?m)^` + name + ` = (.*)$`).FindSubmatch(project)
		if found == nil {
			err = fmt.Errorf("pyproject.toml has no %s", name)
			return ""
		}
		return strings.Trim(string(found[1]), `"[]`)
	}
	var b strings.Builder
	version = field("version")
	fmt.Fprintf(&b, "Metadata-Version: 2.1\nName: noema\nVersion: %s\nSummary: %s\nRequires-Python: %s\n", version, field("description"), field("requires-python"))
	for _, need := range strings.Split(field("dependencies"), ",") {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", strings.Trim(need, ` "`))
	}
	fmt.Fprintf(&b, "Description-Content-Type: text/markdown\n\n%s", readme)
	return version, []byte(b.String()), err
}
