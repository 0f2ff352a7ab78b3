package compare

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// auditTable has what the long audit found, a line a cell.
const auditTable = "testdata/audit.txt"

const auditHead = `# What NOEMA_BENCH=1 go test -run 'TestAudit$' ./kernel/result/compare found, in per cent of the simulated families (or of intervals, where
# they hold). One standard error of a share p of N families is sqrt(p(1-p)/N): 0.7 at 5 % of 1000, 1.0 of 500, 1.5 of 200, 2.2 of 100.
#                       methods    n  families  false winner  false domination  pairs hold  with an effect  method's own
`

// row is a finding as the table has it. A share of 0 intervals was not looked at.
func (f finding) row() string {
	return fmt.Sprintf("%9d %13.1f %17.1f %11.1f %15s %13s", f.families, 100*f.winners, 100*f.dominated, 100*f.together, looked(f.pair), looked(f.own))
}

func looked(share float64) string {
	if share == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*share)
}

// noise is three standard errors of a share.
func (f finding) noise(p float64) float64 { return 3 * math.Sqrt(p*(1-p)/float64(f.families)) }

// check demands the error rates and the coverage that are promised, up to the noise
// of the simulation.
func (f finding) check(t *testing.T, a audited, n, count int) {
	t.Helper()
	if most := 0.05 + f.noise(0.05); f.winners > most || f.dominated > most {
		t.Errorf("false winners in %.3f of the families, false dominations in %.3f", f.winners, f.dominated)
	}
	least := 0.93 - f.noise(0.93)
	if n == 10 && a.epochs == 1 { // Wilson's interval covers 91 % of some proportions of ten samples
		f.own += 0.02
	}
	if f.together < least || a.own == nil && (f.own < least || count == 2 && f.pair < least) {
		t.Errorf("intervals hold: of all pairs %.3f, with an effect %.3f, of a method %.3f", f.together, f.pair, f.own)
	}
}

// keepAudit appends a row to the table, where the last of a cell counts, so that
// several processes can share the work.
func keepAudit(t *testing.T, cell, row string) {
	t.Helper()
	file, err := os.OpenFile(auditTable, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := fmt.Fprintf(file, "%s %s\n", cell, row); err != nil {
		t.Error(err)
	}
}

// sortAudit writes the table in the order of its cells.
func sortAudit(t *testing.T, rows map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(auditHead)
	cells(true, func(a audited, n, count, _ int) {
		if row, ok := rows[a.cell(n, count)]; ok {
			fmt.Fprintf(&b, "%s %s\n", a.cell(n, count), row)
		}
	})
	if err := os.WriteFile(auditTable, []byte(b.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// readAudit is the table by cell.
func readAudit(t *testing.T) map[string]string {
	t.Helper()
	rows := map[string]string{}
	raw, err := os.ReadFile(auditTable)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	cells(true, func(a audited, n, count, _ int) {
		for line := range strings.Lines(string(raw)) {
			if row, ok := strings.CutPrefix(line, a.cell(n, count)+" "); ok {
				rows[a.cell(n, count)] = strings.TrimRight(row, "\n")
			}
		}
	})
	return rows
}

// TestAuditTable: the committed table has every cell, and each keeps what is
// promised; METHOD.md has the worst of each kind.
func TestAuditTable(t *testing.T) {
	rows := readAudit(t)
	if os.Getenv("NOEMA_BENCH") == "1" {
		sortAudit(t, rows)
	}
	worst := map[string]finding{}
	var kinds []string
	cells(true, func(a audited, n, count, _ int) {
		var f finding
		var pair, own string
		_, err := fmt.Sscan(rows[a.cell(n, count)], &f.families, &f.winners, &f.dominated, &f.together, &pair, &own)
		if err != nil {
			t.Errorf("%s has no row %q: %v", auditTable, a.cell(n, count), err)
			return
		}
		fmt.Sscan(pair, &f.pair) //nolint:errcheck // a dash is none
		fmt.Sscan(own, &f.own)   //nolint:errcheck // a dash is none
		for _, share := range []*float64{&f.winners, &f.dominated, &f.together, &f.pair, &f.own} {
			*share /= 100
		}
		f.check(t, a, n, count)
		w, ok := worst[a.name]
		if !ok {
			w = finding{together: 1, own: 1}
			kinds = append(kinds, a.name)
		}
		w.winners, w.dominated = max(w.winners, f.winners), max(w.dominated, f.dominated)
		w.together, w.own = min(w.together, f.together), min(w.own, f.own)
		worst[a.name] = w
	})
	var b strings.Builder
	for _, kind := range kinds {
		w := worst[kind]
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f | %s |\n", kind, 100*w.winners, 100*w.dominated, 100*w.together, looked(w.own))
	}
	method, err := os.ReadFile("METHOD.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(method), "|---|---|---|---|---|\n"+b.String()) {
		t.Errorf("METHOD.md does not have the worst of each kind:\n%s", &b)
	}
}
