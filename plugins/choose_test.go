package plugins

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// secret stands in every private file of a test.
const secret = "hunter2-0451-swordfish"

// privateFiles are forty kinds of what people have beside their scripts and give to nobody.
var privateFiles = strings.Fields(`.env .env.local .env.production .envrc .netrc .pgpass .my.cnf .npmrc .pypirc .git-credentials .ssh/id_rsa .ssh/config
	.aws/credentials .config/gcloud/application_default_credentials.json .kube/config .docker/config.json .streamlit/secrets.toml .vault-token
	.bash_history .python_history .ipynb_checkpoints/x.py .git/config .venv2/.env id_rsa id_ed25519 server.pem server.key client.p12 store.jks
	keys.kdbx credentials.json client_secret.json service-account.json secrets.yaml token.txt passwords.txt api_key.txt kubeconfig.yaml dump.sql
	notes.md mail.mbox contacts.csv db.sqlite3 results.jsonl run.log output.txt answers.json cache.pkl ignored/secret.py deep/down/.env`)

// asRead is everything that a folder holds, names apart.
func asRead(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			raw, err := os.ReadFile(path)
			fmt.Fprintf(&all, "%s\x00%s\x00", path, raw)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func lay(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPrivateFilesAreNotCode: of a folder with everything that people have beside a script, the
// copy of a command and of a plugin has the code and nothing else, and none of it changes the digest.
func TestPrivateFilesAreNotCode(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	t.Chdir(filepath.Dir(dir))
	code := map[string]string{
		"agent.py": "import helper\nopen('prompts/a.txt')\nopen('settings.yaml')\n# dump.sql\n", "helper.py": "one = 1\n", "lib/more.js": "1\n", "prompts/a.txt": "ask\n",
		"settings.yaml": "a: 1\n", "requirements.txt": "openai\n", "tool": "#!/bin/sh\n",
	}
	for name, text := range code {
		lay(t, filepath.Join(dir, name), text)
	}
	alone := func() map[string]string {
		out := map[string]string{}
		src, err := Exec(filepath.Join(t.TempDir(), "keep"), "python3 p/agent.py", nil)
		if err != nil {
			t.Fatal(err)
		}
		out["command"] = digestOf(t, src)
		lay(t, filepath.Join(dir, ManifestName), "command: [python3, agent.py]\n")
		if src, err = At(dir); err == nil {
			src, err = Choose(src, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		out["plugin"] = digestOf(t, src)
		if err := os.Remove(filepath.Join(dir, ManifestName)); err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := alone()
	lay(t, filepath.Join(dir, ".gitignore"), "ignored/\n")
	lay(t, filepath.Join(dir, "env", "pyvenv.cfg"), "")
	lay(t, filepath.Join(dir, "env", "secret.py"), secret) // which the copy leads to and does not have
	for _, name := range privateFiles {
		lay(t, filepath.Join(dir, name), secret)
	}
	lay(t, filepath.Join(dir, "settings_local.py"), "KEY = 'sk-proj-9sD8fJq2LmZx7Kp4Rt6Vb1Nc3Hy5Gw0Ae'  # "+secret+"\n")
	if after := alone(); after["command"] != before["command"] || after["plugin"] != before["plugin"] {
		t.Errorf("what lies beside the code changes its digest: %v, %v", before, after)
	}
	src, err := Exec(filepath.Join(t.TempDir(), "keep"), "python3 p/agent.py", nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := asRead(t, src.Dir); strings.Contains(all, secret) {
		t.Errorf("the copy has a private file: %.2000q", all)
	}
	for name, text := range code {
		if raw, err := os.ReadFile(filepath.Join(src.Dir, name)); err != nil || string(raw) != text {
			t.Errorf("%s is not copied: %v", name, err)
		}
	}
	for _, name := range []string{".env", ".ssh/", "token.txt", "ignored/", "run.log", "settings_local.py"} {
		if !slices.ContainsFunc(src.Left, func(l Left) bool { return l.Name == name && l.Why != "" }) {
			t.Errorf("%s is not told: %v", name, src.Left)
		}
	}
	lay(t, filepath.Join(dir, ManifestName), "command: [python3, agent.py]\nfiles: [.env.local, dump.sql, \"*.log\"]\n")
	if src, err = At(dir); err == nil {
		src, err = Choose(src, nil)
	}
	for _, name := range []string{".env.local", "dump.sql", "run.log"} {
		if err != nil || !slices.Contains(src.chosen, filepath.Join(dir, name)) {
			t.Errorf("%s is declared and not copied: %v", name, err)
		}
	}
}

// taskForms are a task's file in the ways in which it may lie beside a program.
func taskForms(rows []map[string]string) map[string][]byte {
	var lines, csv bytes.Buffer
	list := "["
	for i, row := range rows {
		raw, _ := json.Marshal(row)
		lines.Write(append(raw, '\n'))
		fmt.Fprintf(&csv, "%d,\"%s\",%s\n", i, strings.ReplaceAll(row["input"], `"`, `""`), row["target"])
		list += string(raw) + ",\n"
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(lines.Bytes())
	_ = z.Close()
	packer, _ := zstd.NewWriter(nil)
	var archive bytes.Buffer
	a := zip.NewWriter(&archive)
	f, _ := a.Create("inner/data.jsonl")
	_, _ = f.Write(lines.Bytes())
	_ = a.Close()
	half := bytes.Index(lines.Bytes()[lines.Len()/2:], []byte("\n")) + lines.Len()/2
	return map[string][]byte{
		"data.jsonl": lines.Bytes(), "renamed.md": lines.Bytes(), "table.txt": csv.Bytes(), "list.json": []byte(strings.TrimSuffix(list, ",\n") + "]"),
		"part-1.txt": lines.Bytes()[:half], "part-2.txt": lines.Bytes()[half:], "packed.json": zipped.Bytes(),
		"packed.txt": packer.EncodeAll(lines.Bytes(), nil), "archive.html": archive.Bytes(), "rows.py": []byte("rows = " + list + "]"),
	}
}

// TestTheTaskIsNotCode: whatever its form and its name, and also where the code or the manifest
// names it, a task's data are in no copy; and a program that holds them is refused.
func TestTheTaskIsNotCode(t *testing.T) {
	for name, question := range map[string]string{
		"short": "What is the code of item %d?", "long": "In the year %d a merchant said \"enough\": he counted\nhis camels, his tents and his wives. How many were there of each kind?",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "p")
			t.Chdir(filepath.Dir(dir))
			var rows []map[string]string
			var questions [][]string
			for i := range 40 {
				rows = append(rows, map[string]string{"id": fmt.Sprint(i), "input": fmt.Sprintf(question, i+1), "target": fmt.Sprint("target-", i*37)})
				questions = append(questions, []string{rows[i]["input"], ""})
			}
			forms := taskForms(rows)
			var names []string
			for form, raw := range forms {
				lay(t, filepath.Join(dir, form), string(raw))
				names = append(names, form)
			}
			names = append(names, "examples.txt")
			lay(t, filepath.Join(dir, "examples.txt"), rows[3]["input"]) // as a prompt may have one
			lay(t, filepath.Join(dir, "agent.py"), "# "+strings.Join(names, " "))
			w := &Withheld{}
			w.File(filepath.Join(dir, "data.jsonl"))
			w.Questions(questions)
			check := func(src Source, err error, copied string) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				all := asRead(t, copied)
				if strings.Contains(all, "target-") {
					t.Errorf("the copy has a target: %.1000q", all)
				}
				for form := range forms {
					if _, err := os.Lstat(filepath.Join(copied, form)); err == nil {
						t.Errorf("the copy has %s", form)
					}
					if !slices.ContainsFunc(src.Left, func(l Left) bool { return l.Name == form && l.Task }) {
						t.Errorf("%s is not told as the task's", form)
					}
				}
				if !strings.Contains(all, "examples.txt\x00") {
					t.Error("a text with one question is not copied")
				}
			}
			src, err := Exec(filepath.Join(t.TempDir(), "keep"), "python3 p/agent.py", w)
			check(src, err, src.Dir)
			lay(t, filepath.Join(dir, ManifestName), "command: [python3, agent.py]\nfiles: ["+strings.Join(names, ", ")+"]\n")
			if src, err = At(dir); err == nil {
				src, err = Choose(src, w)
			}
			copied := t.TempDir()
			if err == nil {
				err = copyCode(src, copied)
			}
			check(src, err, copied)
			if err := os.Remove(filepath.Join(dir, ManifestName)); err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{"python3 p/rows.py", "python3 p/agent.py --data=data.jsonl"} {
				if _, err := Exec(filepath.Join(t.TempDir(), "keep"), line, w); line == "python3 p/rows.py" && (err == nil || !strings.Contains(err.Error(), "of the task")) {
					t.Errorf("%s: %v", line, err)
				}
			}
		})
	}
}

// TestFoldersThatAreTooMuch: a home folder and a folder of too many files are refused, with the cure.
func TestFoldersThatAreTooMuch(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", filepath.Join(home, "me"))
	lay(t, filepath.Join(home, "me", "agent.py"), "")
	lay(t, filepath.Join(home, "agent.py"), "")
	t.Chdir(home)
	for _, line := range []string{"python3 me/agent.py", "python3 agent.py"} {
		if _, err := Exec(filepath.Join(home, "keep"), line, nil); err == nil || !strings.Contains(err.Error(), "home folder") {
			t.Errorf("%s: %v", line, err)
		}
	}
	many := filepath.Join(home, "many")
	for i := range maxChosenFiles + 2 {
		lay(t, filepath.Join(many, fmt.Sprint("f", i, ".py")), "")
	}
	if _, err := Exec(filepath.Join(home, "keep"), "python3 many/f1.py", nil); err == nil || !strings.Contains(err.Error(), "into a folder of its own") {
		t.Errorf("many files: %v", err)
	}
}
