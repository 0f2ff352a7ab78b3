// Package python holds the Python package noema, and writes it as a wheel: with the command in
// it for a platform, or without, as the SDK for methods that are plugins.
package python

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed pyproject.toml README.md src/noema/*.py src/noema/py.typed src/noema/method.binpb
var sources embed.FS

// tags are the platforms that have a wheel, as Go writes them, with their tags in Python.
func tags() map[string]string {
	return map[string]string{
		"linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64", "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64",
		"darwin/arm64": "macosx_12_0_arm64",
	}
}

// Platforms are those that a wheel can be made for, such as linux/amd64.
func Platforms() []string { return slices.Sorted(maps.Keys(tags())) }

// Wheel returns the package without the command, with all that methods need which are
// plugins, and the wheel's file name. The bytes are the same at each call.
func Wheel() (name string, wheel []byte, err error) { return pack("any", nil) }

// WheelWith returns the package with the command for one of the [Platforms].
func WheelWith(platform string, command []byte) (name string, wheel []byte, err error) {
	tag, known := tags()[platform]
	if !known {
		return "", nil, fmt.Errorf("make the wheel of %q: use one of %s", platform, strings.Join(Platforms(), ", "))
	}
	return pack(tag, command)
}

// pack writes a wheel by PEP 427. Without a command it is the SDK.
func pack(tag string, command []byte) (name string, wheel []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("make the Python package: %w", err)
		}
	}()
	version, metadata, err := metadata(command == nil)
	if err != nil {
		return "", nil, err
	}
	w := &wheelWriter{info: "noema-" + version + ".dist-info"}
	w.zip = zip.NewWriter(&w.out)
	w.zip.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	names, err := fs.Glob(sources, "src/noema/*")
	if err != nil {
		return "", nil, err
	}
	for _, name := range names {
		raw, err := sources.ReadFile(name)
		if err != nil {
			return "", nil, err
		}
		w.add(path.Join("noema", path.Base(name)), 0o644, raw)
	}
	if command != nil {
		w.add("noema-"+version+".data/scripts/noema", 0o755, command)
	}
	w.add(w.info+"/METADATA", 0o644, metadata)
	wheelFile := fmt.Sprintf("Wheel-Version: 1.0\nGenerator: noema\nRoot-Is-Purelib: %v\n", command == nil)
	for one := range strings.SplitSeq(tag, ".") {
		wheelFile += "Tag: py3-none-" + one + "\n"
	}
	w.add(w.info+"/WHEEL", 0o644, []byte(wheelFile))
	w.record.WriteString(w.info + "/RECORD,,\n")
	w.add(w.info+"/RECORD", 0o644, w.record.Bytes())
	if w.err == nil {
		w.err = w.zip.Close()
	}
	return "noema-" + version + "-py3-none-" + tag + ".whl", w.out.Bytes(), w.err
}

// wheelWriter writes files to a wheel until one fails.
type wheelWriter struct {
	info   string // the folder of what is told of the package
	zip    *zip.Writer
	out    bytes.Buffer
	record bytes.Buffer // a line for each file
	err    error
}

func (w *wheelWriter) add(name string, mode fs.FileMode, raw []byte) {
	if w.err != nil {
		return
	}
	fmt.Fprintf(&w.record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum(raw)), len(raw))
	header := &zip.FileHeader{Name: name, Method: zip.Deflate}
	header.SetMode(mode)
	f, err := w.zip.CreateHeader(header)
	if err == nil {
		_, err = f.Write(raw)
	}
	w.err = err
}

func sum(raw []byte) []byte {
	s := sha256.Sum256(raw)
	return s[:]
}

// metadata is the version and the core metadata, by pyproject.toml. What plugins need beside
// is an extra, or needed by the SDK.
func metadata(sdk bool) (version string, text []byte, err error) {
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
	fmt.Fprintf(&b, "Provides-Extra: plugins\nRequires-Dist: %s\n", field("dependencies"))
	only := `; extra == "plugins"`
	if sdk {
		only = ""
	}
	fmt.Fprintf(&b, "Requires-Dist: %s%s\n", field("plugins"), only)
	fmt.Fprintf(&b, "Description-Content-Type: text/markdown\n\n%s", readme)
	return version, []byte(b.String()), err
}
