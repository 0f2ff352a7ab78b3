package gateway

import (
	"context"
	"time"

	"noema/kernel/result/record"
)

// A program's trial ends at the first call that a limit refuses, whatever the program would make
// of a refusal. Of calls that are under way together chance decides which are let through and
// which one is refused first. The first execution records it, and each later one has exactly
// those calls: a call that the record does not have is refused, and no refusal is told before all
// recorded calls were made. None of them can depend on a refusal, since nobody was told of one.

// patience is how long a refusal waits for the recorded calls of a program that does not make them
// any more. Its trial then differs from the record, which is told.
const patience = time.Minute

// isProgram notes that the trial is a program's.
func (h *Host) isProgram() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.program = true
}

// endedFault is that of a call that came when its trial had ended in the record, which has none.
const endedFault record.Fault = ""

// tells reports whether a refusal is part of the transcript: of a program's trial the first; h.mu
// is held.
func (h *Host) tells(fault record.Fault) bool {
	if !h.program {
		return true
	}
	before := h.over
	h.over = h.over || fault == record.BudgetFault && h.limit == ""
	return fault != endedFault && (fault != record.BudgetFault || !before)
}

// await holds a refusal back until all recorded calls of a program's trial were made.
func (h *Host) await(ctx context.Context) {
	h.mu.Lock()
	wait := h.program && h.ahead > 0
	h.mu.Unlock()
	if !wait {
		return
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-h.met:
	case <-late.C:
	case <-ctx.Done():
	}
}
