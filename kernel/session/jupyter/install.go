package jupyter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
)

// Place is where a kernel spec is installed. The zero value is the user's
// directory.
type Place struct {
	Prefix string // of a Python environment, for example
}

// SpecName is the kernel's name.
const SpecName = "noema"

// folder is the directory of the kernel spec.
func (p Place) folder() (string, error) {
	if p.Prefix != "" {
		return filepath.Abs(filepath.Join(p.Prefix, "share", "jupyter", "kernels", SpecName))
	}
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return filepath.Join(dir, "kernels", SpecName), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home directory: %w", err)
	}
	switch {
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Jupyter", "kernels", SpecName), nil
	case os.Getenv("XDG_DATA_HOME") != "":
		return filepath.Join(os.Getenv("XDG_DATA_HOME"), "jupyter", "kernels", SpecName), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter", "kernels", SpecName), nil
}

// Install writes a kernel spec with which Jupyter starts the executable with args
// and the connection file. It returns the directory of the spec.
func Install(p Place, executable string, args ...string) (string, error) {
	dir, err := p.folder()
	if err != nil {
		return "", fmt.Errorf("install kernel: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("install kernel: %w", err)
	}
	spec, err := json.MarshalIndent(map[string]any{
		"argv":         append(append([]string{executable}, args...), "{connection_file}"),
		"display_name": "noema (Go)", "language": "go", "interrupt_mode": "message",
		"metadata": map[string]any{"debugger": false},
	}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("install kernel: %w", err)
	}
	files := map[string][]byte{"kernel.json": append(spec, '\n'), "logo-svg.svg": []byte(logoSVG())}
	for _, size := range []int{32, 64} {
		raw, err := logoPNG(size)
		if err != nil {
			return "", fmt.Errorf("install kernel: %w", err)
		}
		files[fmt.Sprintf("logo-%dx%d.png", size, size)] = raw
	}
	for name, raw := range files {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			return "", fmt.Errorf("install kernel: %w", err)
		}
	}
	return dir, nil
}

// Uninstall removes the kernel spec and returns its directory.
func Uninstall(p Place) (string, error) {
	dir, err := p.folder()
	if err != nil {
		return "", fmt.Errorf("uninstall kernel: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "kernel.json")); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("uninstall kernel: no kernel in %s", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("uninstall kernel: %w", err)
	}
	return dir, nil
}

// The logo is four thoughts that lead to one, in a square of side 1.
var (
	logoNodes = [][3]float64{{0.22, 0.24, 0.10}, {0.22, 0.76, 0.10}, {0.50, 0.50, 0.10}, {0.80, 0.50, 0.14}}
	logoEdges = [][2]int{{0, 2}, {1, 2}, {2, 3}}
	logoInk   = color.NRGBA{0x1f, 0x4e, 0x79, 0xff}
)

const logoLine = 0.035 // half the width of an edge

func logoSVG() string {
	var b bytes.Buffer
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">`)
	for _, e := range logoEdges {
		x, y := logoNodes[e[0]], logoNodes[e[1]]
		fmt.Fprintf(&b, `<line x1="%g" y1="%g" x2="%g" y2="%g" stroke="#1f4e79" stroke-width="%g"/>`, 100*x[0], 100*x[1], 100*y[0], 100*y[1], 200*logoLine)
	}
	for _, n := range logoNodes {
		fmt.Fprintf(&b, `<circle cx="%g" cy="%g" r="%g" fill="#1f4e79"/>`, 100*n[0], 100*n[1], 100*n[2])
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// logoPNG draws the logo, with 16 samples a pixel.
func logoPNG(size int) ([]byte, error) {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for py := range size {
		for px := range size {
			inside := 0
			for s := range 16 {
				x := (float64(px) + (float64(s%4)+0.5)/4) / float64(size)
				y := (float64(py) + (float64(s/4)+0.5)/4) / float64(size)
				if inLogo(x, y) {
					inside++
				}
			}
			ink := logoInk
			ink.A = uint8(inside * 255 / 16)
			img.SetNRGBA(px, py, ink)
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

func inLogo(x, y float64) bool {
	for _, n := range logoNodes {
		if math.Hypot(x-n[0], y-n[1]) <= n[2] {
			return true
		}
	}
	for _, e := range logoEdges {
		a, b := logoNodes[e[0]], logoNodes[e[1]]
		dx, dy := b[0]-a[0], b[1]-a[1]
		t := ((x-a[0])*dx + (y-a[1])*dy) / (dx*dx + dy*dy)
		t = max(0, min(1, t))
		if math.Hypot(x-a[0]-t*dx, y-a[1]-t*dy) <= logoLine {
			return true
		}
	}
	return false
}
