package dataset

import (
	"fmt"
	"strings"
	"testing"

	"noema/kernel/base/hub"
)

// show writes configs as "NAME(SPLIT:FILE,FILE SPLIT:FILE) …".
func show(configs []config) string {
	var all []string
	for _, c := range configs {
		var splits []string
		for _, s := range c.splits {
			var files []string
			for _, f := range s.files {
				files = append(files, f.Path)
			}
			splits = append(splits, s.name+":"+strings.Join(files, ","))
		}
		all = append(all, fmt.Sprintf("%s(%s)", c.name, strings.Join(splits, " ")))
	}
	return strings.Join(all, " ")
}

// TestConfigs finds configs and splits by the card, and else by the names of files.
func TestConfigs(t *testing.T) {
	card := func(lines ...string) string { return "---\nconfigs:\n" + strings.Join(lines, "\n") + "\n---\n" }
	for _, c := range []struct{ name, files, card, want, err string }{
		{name: "one file", files: "README.md data.csv", want: "default(train:data.csv)"},
		{name: "names", files: "train.jsonl test.jsonl val.jsonl", want: "default(test:test.jsonl train:train.jsonl validation:val.jsonl)"},
		{name: "words in names", files: "my_train_file.csv test-file.csv validation1.csv other.csv", want: "default(train:my_train_file.csv test:test-file.csv validation:validation1.csv)"},
		{name: "no word", files: "testfile.csv", want: "default(train:testfile.csv)"},
		{name: "folders", files: "train/1.csv train/2.csv eval/1.csv", want: "default(test:eval/1.csv train:train/1.csv,train/2.csv)"},
		{name: "shards", files: "data/murder-00001-of-00002.parquet data/murder-00000-of-00002.parquet data/team-00000-of-00001-ab12.parquet",
			want: "default(murder:data/murder-00000-of-00002.parquet,data/murder-00001-of-00002.parquet team:data/team-00000-of-00001-ab12.parquet)"},
		{name: "folders of configs", files: "en/test.jsonl de/test.jsonl.gz", want: "de(test:de/test.jsonl.gz) en(test:en/test.jsonl)"},
		{name: "the hub's copy", files: "default/team/0000.parquet default/team/0001.parquet default/murder/0000.parquet",
			want: "default(murder:default/murder/0000.parquet team:default/team/0000.parquet,default/team/0001.parquet)"},
		{name: "most frequent format", files: "a_test.csv b_test.csv test.parquet", want: "default(test:a_test.csv,b_test.csv)"},
		{name: "hidden and not data", files: ".idea/a.json dataset_infos.json config.json test.json", want: "default(test:test.json)"},
		{name: "nothing", files: "README.md image.png a.arrow", err: "@refs/convert/parquet"},

		{name: "card", files: "main/a.parquet x/b.parquet x/c.parquet", card: card("- config_name: one", "  data_files:", "  - split: dev", "    path: [x/c*, x/*]", "  - split: gone", "    path: none"),
			want: "one(dev:x/c.parquet,x/b.parquet)"},
		{name: "card with a pattern alone", files: "a.csv b.csv", card: card("- config_name: one", "  data_files: a.csv", "- config_name: two", "  default: true", "  data_files: [b.csv]"), want: "one(train:a.csv) two(train:b.csv)"},
		{name: "card with a folder", files: "en/train.csv de/train.csv", card: card("- config_name: german", "  data_dir: de"), want: "german(train:de/train.csv)"},
		{name: "card with folders", files: "a/b/c.csv a/c.csv", card: card("- config_name: one", "  data_files: 'a/**/c.csv'"), want: "one(train:a/b/c.csv,a/c.csv)"},
		{name: "card with a class", files: "a1.csv ab.csv", card: card("- config_name: one", "  data_files: 'a[0-9].csv'"), want: "one(train:a1.csv)"},
		{name: "card without configs", files: "test.csv", card: "---\nlicense: mit\n---\n# x\n", want: "default(test:test.csv)"},
		{name: "no card", files: "test.csv", card: "# x\n---\nconfigs: 3\n---\n", want: "default(test:test.csv)"},
		{name: "card of another repository", files: "test.csv", card: card("- config_name: one", "  data_files: 'hf://datasets/a/b/x.csv'"), err: "is not a path in the repository"},
		{name: "card out of the repository", files: "test.csv", card: card("- config_name: one", "  data_files: '../../*'"), want: "default(test:test.csv)"},
		{name: "card with a split without path", files: "test.csv", card: card("- config_name: one", "  data_files: [{split: x}]"), err: "want a split and a path"},
		{name: "broken card", files: "test.csv", card: "---\nconfigs: [\n---\n", err: "README.md: the YAML at its top"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []hub.File
			for _, path := range strings.Fields(c.files) {
				all = append(all, hub.File{Path: path})
			}
			configs, err := configsOf(all, []byte(c.card))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if got := show(configs); err != nil || got != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
		})
	}
}

// TestChoose picks the config and the split that are meant where none is named.
func TestChoose(t *testing.T) {
	of := func(name string, marked bool, splits ...string) config {
		c := config{name: name, first: marked}
		for _, s := range splits {
			c.splits = append(c.splits, split{name: s})
		}
		return c
	}
	for _, c := range []struct {
		configs      []config
		config, part string
		want, err    string
	}{
		{configs: []config{of("a", false, "train", "test")}, want: "a/test"},
		{configs: []config{of("a", false, "train")}, want: "a/train"},
		{configs: []config{of("a", false, "train", "dev")}, err: "write split= for one of its splits: a (train, dev)"},
		{configs: []config{of("a", false, "x"), of("default", false, "y")}, want: "default/y"},
		{configs: []config{of("a", true, "x"), of("default", false, "y")}, want: "a/x"},
		{configs: []config{of("a", false, "x"), of("b", false, "y")}, err: "write config= for one of its configs: a (x), b (y)"},
		{configs: []config{of("a", false, "x"), of("b", false, "y")}, config: "b", want: "b/y"},
		{configs: []config{of("a", false, "x")}, config: "b", err: `there is no config "b": it has a (x)`},
		{configs: []config{of("a", false, "x")}, part: "test", err: `there is no split "test" in config "a": it has a (x)`},
	} {
		found, s, err := choose(c.configs, c.config, c.part)
		switch {
		case c.err == "" && (err != nil || found.name+"/"+s.name != c.want):
			t.Errorf("%s/%s, %v, want %s", found.name, s.name, err, c.want)
		case c.err != "" && (err == nil || err.Error() != c.err):
			t.Errorf("error %v, want %q", err, c.err)
		}
	}
}

// TestManyPatterns: a card that would take minutes to read is refused.
func TestManyPatterns(t *testing.T) {
	all := make([]hub.File, 20_000)
	for i := range all {
		all[i].Path = fmt.Sprintf("%d.csv", i)
	}
	card := "---\nconfigs:\n- config_name: one\n  data_files: [" + strings.Repeat("'x*', ", 2000) + "'y']\n---\n"
	if _, err := configsOf(all, []byte(card)); err == nil || !strings.Contains(err.Error(), "too many patterns for 20000 files") {
		t.Errorf("error %v", err)
	}
}
