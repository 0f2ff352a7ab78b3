package runner

import (
	"bytes"
	"strings"
	"sync"
)

// maxPrinted bounds, in bytes, what a trial's record keeps of its plugin's output.
const maxPrinted = 8 << 10

// printed is the output of a plugin during a trial. It is safe for concurrent use.
type printed struct {
	line func(string) // is told each line that this trial alone can have printed

	mu     sync.Mutex
	text   []byte // the end of the output
	cut    bool   // it is not all
	shared bool   // it may be another trial's in part
	begun  []byte // of a line
}

// write takes what was printed; see [plugins.WithOutput].
func (p *printed) write(text []byte, shared bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shared = p.shared || shared
	p.text = append(p.text, text[max(0, len(text)-maxPrinted):]...)
	if over := len(p.text) - maxPrinted; over > 0 {
		p.text, p.cut = append(p.text[:0], p.text[over:]...), true
	}
	if shared {
		return
	}
	p.begun = append(p.begun, text...)
	for {
		line, rest, whole := bytes.Cut(p.begun, []byte("\n"))
		if !whole && len(line) < maxPrinted {
			return
		}
		p.line(strings.ToValidUTF8(string(line[:min(len(line), maxPrinted)]), "\uFFFD"))
		p.begun = rest
	}
}

// reset forgets what another attempt at the trial printed.
func (p *printed) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.begun, p.cut, p.shared = nil, nil, false, false
}

// String is what is kept of the output.
func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	head := ""
	if p.shared {
		head = "[other trials ran in the same process, and some of this may be theirs: --debug 1 keeps them apart]\n"
	}
	if p.cut {
		head += "[…]\n"
	}
	if len(p.text) == 0 {
		return ""
	}
	return head + strings.ToValidUTF8(string(p.text), "\uFFFD")
}
