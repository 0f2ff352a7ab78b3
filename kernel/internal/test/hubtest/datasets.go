package hubtest

import (
	"bytes"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"
)

// Rows of public data sets in the schema that the hub has them in.
type (
	// GSM8K is a row of openai/gsm8k.
	GSM8K struct {
		Question string `parquet:"question"`
		Answer   string `parquet:"answer"`
	}
	// MMLUPro is a row of TIGER-Lab/MMLU-Pro.
	MMLUPro struct {
		ID       int64    `parquet:"question_id"`
		Question string   `parquet:"question"`
		Options  []string `parquet:"options,list"`
		Answer   string   `parquet:"answer"`
		Index    int64    `parquet:"answer_index"`
		COT      string   `parquet:"cot_content"`
		Category string   `parquet:"category"`
		Source   string   `parquet:"src"`
	}
	// AIME is a row of HuggingFaceH4/aime_2024.
	AIME struct {
		ID       int64  `parquet:"id"`
		Problem  string `parquet:"problem"`
		Solution string `parquet:"solution"`
		Answer   string `parquet:"answer"`
		URL      string `parquet:"url"`
		Year     string `parquet:"year"`
	}
	// HotpotQA is a row of hotpotqa/hotpot_qa.
	HotpotQA struct {
		ID       string `parquet:"id"`
		Question string `parquet:"question"`
		Answer   string `parquet:"answer"`
		Type     string `parquet:"type"`
		Level    string `parquet:"level"`
		Facts    struct {
			Title    []string `parquet:"title,list"`
			Sentence []int32  `parquet:"sent_id,list"`
		} `parquet:"supporting_facts"`
		Context struct {
			Title     []string   `parquet:"title,list"`
			Sentences [][]string `parquet:"sentences,list"`
		} `parquet:"context"`
	}
)

// Parquet is a file of rows, compressed as the hub's are.
func Parquet[R any](rows ...R) *fstest.MapFile {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[R](&b, parquet.Compression(&parquet.Snappy))
	if _, err := w.Write(rows); err != nil {
		panic(err) // rows of the types above can be written to memory
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

// Text is a file of text.
func Text(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// Card is a README.md whose YAML has these configs, each written
// CONFIG SPLIT=PATTERN SPLIT=PATTERN….
func Card(configs ...string) *fstest.MapFile {
	var b strings.Builder
	b.WriteString("---\nlicense: mit\nconfigs:\n")
	for _, c := range configs {
		words := strings.Fields(c)
		fmt.Fprintf(&b, "- config_name: %s\n  data_files:\n", words[0])
		for _, w := range words[1:] {
			name, pattern, _ := strings.Cut(w, "=")
			fmt.Fprintf(&b, "  - split: %s\n    path: %s\n", name, pattern)
		}
	}
	b.WriteString("---\n\n# A data set\n")
	return Text(b.String())
}

// WordProblems is openai/gsm8k with n word problems of ours, in two files of the test
// split.
func WordProblems(n int) Repo {
	var rows []GSM8K
	for i := range n {
		rows = append(rows, GSM8K{
			fmt.Sprintf("A shelf has %d books and gets %d more. How many books are on it?", i+2, i+5),
			fmt.Sprintf("There are %d + %d = <<%[1]d+%[2]d=%[3]d>>%[3]d books.\n#### %[3]d", i+2, i+5, 2*i+7),
		})
	}
	return Repo{License: "mit", Files: fstest.MapFS{
		"README.md":                             Card("main train=main/train-* test=main/test-*", "socratic train=socratic/train-* test=socratic/test-*"),
		"main/test-00000-of-00002.parquet":      Parquet(rows[:n/2]...),
		"main/test-00001-of-00002.parquet":      Parquet(rows[n/2:]...),
		"main/train-00000-of-00001.parquet":     Parquet(rows[:1]...),
		"socratic/test-00000-of-00001.parquet":  Parquet(rows[:1]...),
		"socratic/train-00000-of-00001.parquet": Parquet(rows[:1]...),
	}}
}
