// Package pack makes of runs a file that can be verified: a pack with all that the runs
// asked and were told, their transcripts, the code of their methods and their tables. Who
// gets it computes every trial again, without a key and without a network, and compares
// root hashes and tables with what the file says.
//
// A pack is made of what the store has, by [Write]; [Verify] believes none of it. The
// format of the file is that of package cache/packfile; cache/PACK.md describes both.
package pack

// Format is the version of study.json and of the folders that it names.
const Format = 1

// The entries of a pack.
const (
	studyName   = "study.json"
	readmeName  = "README.md"
	replies     = "replies"  // completions with their requests
	tools       = "tools"    // tool results
	seeds       = "seeds"    // method seeds
	samples     = "samples"  // blobs of tasks, each a line with its end
	replaced    = "replaced" // blobs of replies by hand, each a line without its end
	codeFolder  = "code"
	runFile     = "run.json"
	trialFolder = "trials"
	labelFile   = "labels.jsonl"
	tableFile   = "table.json"
)

// Study is what a pack says of itself.
type Study struct {
	Format int    `json:"format"`
	Noema  string `json:"noema"` // the build that wrote the pack
	Runs   []Run  `json:"runs"`  // in the order asked for
	// Studies are the ids of studies whose cells are among Runs.
	Studies []string `json:"studies,omitempty"`
	Code    []Code   `json:"code,omitempty"`
	// Redacted is what was taken out, of [Redactable].
	Redacted []string `json:"redacted,omitempty"`
}

// Run is a run of a study.
type Run struct {
	ID        string `json:"id"`
	Root      string `json:"root_hash,omitempty"` // empty for an imported run
	Trials    int    `json:"trials"`
	Tree      string `json:"tree"` // see [Tree]
	Task      string `json:"task"`
	Digest    string `json:"task_digest"`
	Source    string `json:"task_source,omitempty"` // where the data is from
	Model     string `json:"model"`
	Simulated bool   `json:"simulated"`
}

// Code is the code of a plugin that served methods of the runs.
type Code struct {
	Digest   string `json:"digest"` // as in the methods of a run
	Name     string `json:"name"`
	Folder   bool   `json:"folder"`             // a folder; otherwise one file
	Platform string `json:"platform,omitempty"` // of the program in it, such as linux/amd64; empty if all of it is source
	// Source is what the program is built from by the Go toolchain: a package such as "." or
	// a file of Go, in the folder itself or in the folder source beside the one file.
	Source string `json:"source,omitempty"`
}

// runEntry is the name of an entry of a run.
func runEntry(id, name string) string { return "runs/" + id + "/" + name }
