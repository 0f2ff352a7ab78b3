package plugins

import (
	"bytes"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
)

// codeKinds are the extensions of what is plainly code: sources, templates and what is compiled of them.
var codeKinds = strings.Fields(`.py .pyi .pyx .pxd .go .js .mjs .cjs .ts .mts .cts .jsx .tsx .vue .svelte .rb .rs .java .kt .kts .scala .clj
	.ex .exs .erl .hs .ml .mli .fs .fsx .cs .vb .c .cc .cpp .cxx .h .hh .hpp .m .swift .lua .pl .pm .php .r .jl .sh .bash .zsh .fish .ps1 .bat
	.awk .sed .lisp .scm .rkt .el .pro .nim .zig .dart .sol .wasm .so .dylib .dll .jar .proto .graphql .jinja .jinja2 .j2 .tmpl .tpl .mustache .hbs .prompt`)

// codeNames are files without which code does not start: what a project of a language lists.
var codeNames = strings.Fields(`requirements.txt pyproject.toml setup.cfg Pipfile Pipfile.lock poetry.lock uv.lock environment.yml package.json
	package-lock.json pnpm-lock.yaml yarn.lock tsconfig.json deno.json go.mod go.sum go.work Cargo.toml Cargo.lock Gemfile Gemfile.lock Makefile
	justfile Dockerfile CMakeLists.txt build.gradle pom.xml`)

// textKinds are the extensions of texts that may be prompts and settings, and may be anything else.
var textKinds = strings.Fields(`.txt .md .rst .json .json5 .yaml .yml .toml .ini .cfg .conf .xml .html`)

// plainCode reports whether a file is code by its name, or by how it begins.
func plainCode(path string, info fs.FileInfo) bool {
	name := filepath.Base(path)
	ext := strings.ToLower(filepath.Ext(name))
	if slices.Contains(codeKinds, ext) || slices.Contains(codeNames, name) || strings.HasPrefix(name, "requirements") && ext == ".txt" {
		return true
	}
	if ext != "" && info.Mode()&0o111 == 0 {
		return false
	}
	f, err := files.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head)
	return bytes.HasPrefix(head[:n], []byte("#!")) || bytes.Equal(head, []byte("\x7fELF")) || bytes.Equal(head, []byte("\xcf\xfa\xed\xfe"))
}

// secretName reports whether a text has the name of what only its owner is to read.
func secretName(name string) bool {
	for _, word := range []string{"secret", "credential", "password", "passwd", "token", "apikey", "api_key", "api-key", "private", "service-account", "service_account", "client_secret", "oauth", "kubeconfig"} {
		if strings.Contains(name, word) && !strings.Contains(name, "token"+"iz") {
			return true
		}
	}
	return false
}
