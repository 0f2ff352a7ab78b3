package pack

import "strings"

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
