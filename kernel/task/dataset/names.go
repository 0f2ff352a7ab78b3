package dataset

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/hub"
)

// formatOf is the format that a file of rows has by its name; "" if the name has none.
func formatOf(name string) string {
	for _, hidden := range strings.Split(name, "/") {
		if strings.HasPrefix(hidden, ".") || strings.HasPrefix(hidden, "__") {
			return ""
		}
	}
	base := strings.ToLower(path.Base(name))
	if slices.Contains([]string{"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "config.json"}, base) {
		return ""
	}
	ext := path.Ext(base)
	packed := ext == ".gz" || ext == ".zst"
	if packed {
		ext = path.Ext(strings.TrimSuffix(base, ext))
	}
	switch {
	case ext == ".parquet" && !packed, ext == ".csv", ext == ".tsv":
		return ext
	case ext == ".jsonl" || ext == ".ndjson" || ext == ".json":
		return ".json"
	}
	return ""
}

// conventional are the configs and splits that the names of the files say. A folder at
// the top is a config, unless it is called data or like a split.
//
// Source: huggingface.co/docs/hub/datasets-file-names-and-splits. Differs: that has
// folders of configs only where the card names them.
func conventional(all []hub.File) (configs []config) {
	byFolder := map[string][]hub.File{}
	for _, f := range all {
		folder, rest, below := strings.Cut(f.Path, "/")
		if !below || folder == "data" || keyword(folder) != "" && !strings.Contains(rest, "/") {
			folder = "default"
		}
		byFolder[folder] = append(byFolder[folder], f)
	}
	for folder, inside := range byFolder {
		if splits := named(inside); len(splits) > 0 {
			configs = append(configs, config{name: folder, splits: splits})
		}
	}
	slices.SortFunc(configs, func(a, b config) int { return strings.Compare(a.name, b.name) })
	return configs
}

// shard is a part of a split, as datasets' push_to_hub calls it and as the hub's own
// copies in Parquet are laid out.
var shard = regexp.MustCompile(`(?:^|/)(?:(\w+(?:\.\w+)*)-\d{5}-of-\d{5}(?:-[0-9a-f]+)?\.\w+|([\w.]+)/\d{4}\.parquet)$`)

// named are the splits of some files by their names: those of shards, or else of words
// in the names of the files, or else of their folders; and without any of these all
// are train. Of several formats the one with the most files counts.
func named(all []hub.File) (splits []split) {
	all = commonest(all)
	for _, of := range []func(string) string{
		func(p string) string {
			m := shard.FindStringSubmatch(p)
			if m == nil {
				return ""
			}
			return cmp.Or(m[1], m[2])
		},
		func(p string) string { return keyword(path.Base(p)) },
		func(p string) string {
			for _, folder := range strings.Split(path.Dir(p), "/") {
				if found := keyword(folder); found != "" {
					return found
				}
			}
			return ""
		},
	} {
		for _, f := range all {
			name := of(f.Path)
			if name == "" {
				continue
			}
			i := slices.IndexFunc(splits, func(s split) bool { return s.name == name })
			if i < 0 {
				i = len(splits)
				splits = append(splits, split{name: name})
			}
			splits[i].files = append(splits[i].files, f)
		}
		if splits != nil {
			return splits
		}
	}
	if len(all) > 0 {
		splits = []split{{"train", all}}
	}
	return splits
}

// commonest are the files of rows in the format that most of them have, by name.
func commonest(all []hub.File) (found []hub.File) {
	formats := []string{".parquet", ".json", ".csv", ".tsv"}
	counts := map[string]int{}
	for _, f := range all {
		counts[formatOf(f.Path)]++
	}
	best := slices.MaxFunc(formats, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(slices.Index(formats, b), slices.Index(formats, a)))
	})
	for _, f := range all {
		if formatOf(f.Path) == best {
			found = append(found, f)
		}
	}
	return byPath(found)
}

var words = regexp.MustCompile(`[a-z]+`)

// keyword is the split that a word in a name means; "" if none does.
func keyword(name string) string {
	for _, word := range words.FindAllString(strings.ToLower(name), -1) {
		switch word {
		case "train", "training":
			return "train"
		case "validation", "valid", "val", "dev":
			return "validation"
		case "test", "testing", "eval", "evaluation":
			return "test"
		}
	}
	return ""
}
