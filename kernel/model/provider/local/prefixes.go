package local

import (
	"slices"

	"noema/kernel/model/provider/local/internal/network"
)

// What is kept of prompts that were read: the prompts of a method begin alike.
const (
	maxPrefixes    = 16
	maxPrefixBytes = 256 << 20
	minPrefix      = 16 // tokens that are worth a copy
)

// prefixes are the prompts read last, with what the model remembers of them; the
// latest comes first. A model remembers the same of a prefix whatever follows it.
type prefixes []prefix

type prefix struct {
	tokens   []int
	sequence *network.Sequence
}

// begin starts a sequence with the longest known beginning of a prompt, and gives its
// length. The last token is always left to be fed.
func (p prefixes) begin(s *network.Sequence, prompt []int) int {
	best, at := 0, 0
	for i := range p {
		if n := common(p[i].tokens, prompt[:len(prompt)-1]); n > best {
			best, at = n, i
		}
	}
	if best < minPrefix {
		return 0
	}
	*s = *p[at].sequence.Cut(best)
	return best
}

func common(a, b []int) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// add keeps a prompt that a sequence has just read, in the place of those that are
// part of it.
func (p *prefixes) add(s *network.Sequence, prompt []int) {
	room := maxPrefixBytes - s.Bytes()
	if room < 0 || len(prompt) < minPrefix {
		return
	}
	kept := prefixes{{prompt, s.Cut(len(prompt))}}
	for _, old := range *p {
		if room -= old.sequence.Bytes(); room >= 0 && len(kept) < maxPrefixes && common(old.tokens, prompt) < len(old.tokens) {
			kept = append(kept, old)
		}
	}
	*p = slices.Clip(kept)
}
