package pack

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"

	"noema/plugins"
)

// rebuild compiles the pack's programs again, to run in the place of those that came in it,
// and reports whether to go on.
func (x *verification) rebuild(ctx context.Context) bool {
	if x.Rebuild == nil {
		return true
	}
	ok := true
	for i, c := range x.study.Code {
		binary := fmt.Sprintf("the program of method %q", c.Name)
		switch {
		case c.Platform == "":
			x.claim("", fmt.Sprintf("the code of method %q is source, and runs as it is", c.Name), nil)
		case c.Source == "":
			x.unchecked("", binary, "the pack has no source of it: it runs as it came")
		default:
			ok = x.rebuildOne(ctx, c, binary, filepath.Join(x.home, fmt.Sprintf("rebuilt-%d", i))) && ok
		}
	}
	return ok
}

// rebuildOne puts a program that is compiled here in the place of a packed one.
func (x *verification) rebuildOne(ctx context.Context, c Code, binary, made string) bool {
	at := x.code[c.Digest]
	program, missing, err := x.compile(ctx, c, at, made)
	switch {
	case err != nil:
		return x.claim("", binary+" is built from its source", err)
	case missing != "":
		x.unchecked("", binary, "it cannot be built here for want of "+missing)
		return true
	}
	was, err := plugins.CodeDigest(plugins.Source{Name: c.Name, Path: program})
	var now string
	if err == nil {
		now, err = plugins.CodeDigest(plugins.Source{Name: c.Name, Path: made})
	}
	packed, here := builtWith(program), builtWith(made)
	if err == nil {
		err = os.Rename(made, program)
	}
	if err != nil {
		return x.claim("", binary+" is built from its source", err)
	}
	x.rebuilt[c.Digest] = true
	if was == now {
		return x.claim("", fmt.Sprintf("%s is built again from its source, byte by byte: %.12s", binary, now), nil)
	}
	why := fmt.Sprintf("built here from its source with %s it is %.12s; it was built with %s", here, now, packed)
	if packed == here {
		why += ", from another version of noema or of the source"
	}
	x.unchecked("", fmt.Sprintf("%s, %.12s", binary, was), why+". What was built here runs in its place")
	return true
}

// compile builds a program from its source, and returns where the packed one is.
func (x *verification) compile(ctx context.Context, c Code, at, made string) (program, missing string, err error) {
	if err := c.checkSource(); err != nil {
		return "", "", err
	}
	if err := x.isolated(); err != nil {
		return "", "", err
	}
	program, dir := at, filepath.Join(filepath.Dir(at), sourceFolder)
	if c.Folder {
		src, err := plugins.At(at)
		if err != nil {
			return "", "", err
		}
		if !filepath.IsLocal(src.Command[0]) {
			return "", "", fmt.Errorf("its command %q is not in its folder", src.Command[0])
		}
		program, dir = filepath.Join(at, src.Command[0]), at
	}
	ctx, cancel := x.limited(ctx)
	defer cancel()
	missing, err = x.Rebuild(ctx, dir, c.Source, made)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return program, missing, err
}

const unknownToolchain = "an unknown toolchain"

// builtWith says by what a program of Go was built.
func builtWith(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return unknownToolchain
	}
	text := info.GoVersion
	for _, s := range [][2]string{{"GOOS", "/"}, {"GOARCH", "/"}} {
		text += s[1] + setting(info, s[0])
	}
	if setting(info, "-trimpath") != "true" {
		text += " without -trimpath"
	}
	return text
}
