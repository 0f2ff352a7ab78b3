package study

import (
	"bytes"
	"errors"
	"strings"

	"noema/kernel/record"
)

// folderNames says what the folders of a pack hold.
var folderNames = map[string]string{
	replies: "recorded completions with their requests", tools: "recorded tool results", seeds: "recorded method seeds",
	samples: "tasks and samples", replaced: "replies that were replaced by hand",
}

// files adds the files of a pack; batches of lines, and code, as their folders.
func (c *crate) files(names []string) {
	part := func(e entity) {
		if !c.has[e["@id"].(string)] {
			c.parts = append(c.parts, c.add(e))
		}
	}
	for _, name := range names {
		elements := strings.Split(name, "/")
		switch top := elements[0]; {
		case name == studyName: // see head
		case top == codeFolder:
			part(entity{"@id": top + "/" + elements[1] + "/", "@type": "Dataset", "name": "code of a plugin", "identifier": elements[1]})
		case len(elements) == 4:
			part(entity{"@id": strings.Join(elements[:3], "/") + "/", "@type": "Dataset", "name": "transcripts of run " + elements[1], "description": "JSON lines, compressed with zstd"})
		case folderNames[top] != "":
			part(entity{"@id": top + "/", "@type": "Dataset", "name": folderNames[top], "description": "JSON lines, compressed with zstd"})
		default:
			e := entity{"@id": name, "@type": "File", "name": name, "encodingFormat": "application/json"}
			if name == readmeName {
				e["encodingFormat"], e["about"] = "text/markdown", ref("./")
			}
			part(e)
		}
	}
	part(entity{"@id": "manifest.json", "@type": "File", "name": "SHA-256 of every file", "encodingFormat": "application/json"})
}

// described notes it if a pack's metadata is not what this noema writes of its runs. No
// claim of a study rests on it, and other builds may say things in other words.
func (x *verification) described() {
	if !x.pack.Has(crateName) {
		return
	}
	if err := x.sameCrate(); err != nil {
		x.unchecked("", "its metadata for archives, "+crateName, err.Error())
	}
}

func (x *verification) sameCrate() error {
	var names []string
	for _, e := range x.pack.Entries() {
		if e.Name != crateName {
			names = append(names, e.Name)
		}
	}
	var runs []*record.Run
	for _, s := range x.study.Runs {
		run, err := readRun(x.pack, s)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	said, err := x.pack.Read(crateName)
	if err != nil {
		return err
	}
	now, err := crateOf(names, *x.study, runs)
	if err == nil && !bytes.Equal(said, now) {
		err = errors.New("it is not what this noema says of the runs: another build wrote it, or somebody changed it: " + difference(said, now))
	}
	return err
}
