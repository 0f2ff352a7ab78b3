package predictions

import (
	"fmt"
	"io"
)

// portion is a reader of a part that must end before left bytes are read. Whoever
// reads part after part sets left anew.
type portion struct {
	r    io.Reader
	left int64
}

// Read implements [io.Reader].
func (p *portion) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, fmt.Errorf("it has more than %d MiB", maxSample>>20)
	}
	n, err := p.r.Read(b[:min(int64(len(b)), p.left)])
	p.left -= int64(n)
	return n, err
}
