package cell

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestEngineThatDoesNotExist(t *testing.T) {
	_, err := New(Options{Engine: "yagi"})
	if err == nil || !strings.Contains(err.Error(), `engine "yagi" does not exist, did you mean "yaegi"?: the engines are ssa and yaegi`) {
		t.Errorf("New gives %v", err)
	}
}

// TestYaegi runs cells in the order of a session: what they must do or refuse.
func TestYaegi(t *testing.T) {
	s, err := New(Options{Engine: "yaegi", Imports: []string{"fmt"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	declared(t, s, "limit", 3)
	for _, tt := range []struct{ text, kind, want string }{
		{"total := 0\nfor i := range limit { total += i }\nfmt.Println(total)", "", "3\n"},
		{"total++\nadd := func(n int) int { total += n; return total }\nfmt.Println(add(2), total)", "", "6 6\n"},
		{"for { total++ }", "interrupted", ""},
		{"c := make(chan int)\n<-c", "interrupted", ""},
		{"total = 1\nfmt.Println(add(4))", "", "5\n"},
		{"panic(\"no\")", "panic", "no"},
		{"go func() { panic(\"there\") }()\n<-c", "panic", "there"},
		{"fmt.Println(undefined)", "type error", "undefined: undefined"},
		{"type point struct{ x int }\nfmt.Println(point{2})", "", "{2}\n"},
		{"fmt.Printf(\"%+v\", point{2})", "unsupported", "the cell's type point in an interface"},
		{"[]int{1}[limit]", "panic", "index out of range"},
		{"import \"os\"\nos.Exit(3)", "exit", "exit status 3"},
		{"fmt.Println(total)", "", "5\n"},
	} {
		out := &recorder{}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		if tt.kind == "interrupted" {
			ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
		}
		_, err := s.Run(ctx, tt.text, out)
		cancel()
		var e *Error
		switch errors.As(err, &e); {
		case tt.kind == "" && (err != nil || out.stdout() != tt.want):
			t.Errorf("%s\ngives %v and prints %q, want %q", tt.text, err, out.stdout(), tt.want)
		case tt.kind != "" && (e == nil || e.Kind != tt.kind || !strings.Contains(e.Error(), tt.want)):
			t.Errorf("%s\ngives %v, want %s: %s", tt.text, err, tt.kind, tt.want)
		}
	}
	if c := s.Complete("tot", 3); len(c.Items) != 1 || c.Items[0].Text != "total" {
		t.Errorf("completes %v", c)
	}
}
