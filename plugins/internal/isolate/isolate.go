// Package isolate takes from a thread, and from what it starts, the rights that
// a plugin does not need: all files but those named, the network, the attributes
// of files, other processes, and whatever would outlive it. It uses what the
// operating system lets an ordinary user do, Landlock for files and signals and
// seccomp for system calls, and reports what it found to be refused.
//
// The restrictions are set on one thread of the host, which then starts the
// plugin: a child inherits those of the thread that forks it. So no launcher is
// needed, and isolation works alike in the noema binary, in a script and in a
// test. On the same thread, what must fail is tried.
package isolate

import "strings"

// Rules say what is left to a plugin.
type Rules struct {
	Read    []string // files and folders that it may read and execute
	Write   []string // folders in which it may do anything
	Network bool     // it may open connections
	// Loopback lets it open connections within the network that it is in, which is to be
	// one of its own that leads nowhere: see [Apart].
	Loopback bool
	// Starter is the thread that starts the plugin, to which it sends no signals: the calling
	// one if it is 0. Below 0 it is not known, and nothing is sent to it when that is tried.
	Starter int
	// Outside is a folder of the host for which nothing is permitted. What must fail
	// is tried in it, and it may be damaged where that succeeds. Empty tries no files.
	Outside string
	// Landlock, if it is not 0, is the newest version to use, as if the system had no other.
	Landlock int
}

// State is what is in force, as it was found by trying.
type State struct {
	By      []string // what enforces it, such as "landlock 7"
	Refused []string // what was tried and failed, as it should
	Left    []string // what should have failed and did not, with the ways that are open
	Seen    []string // what no rule can refuse
	Why     string   // what the system did not offer; empty if nothing
}

// Full reports whether everything is refused that should be.
func (s State) Full() bool { return len(s.By) > 0 && len(s.Left) == 0 }

// String is the state as it is recorded.
func (s State) String() string {
	if len(s.By) == 0 {
		return strings.TrimSuffix("not isolated: "+s.Why, ": ")
	}
	text := "refused: " + orNone(s.Refused) + " (" + strings.Join(s.By, ", ") + ")"
	if len(s.Left) > 0 {
		text += "; not refused: " + strings.Join(s.Left, ", ")
	}
	if s.Why != "" {
		text += " (" + s.Why + ")"
	}
	return text + "; can be seen: " + orNone(s.Seen)
}

func orNone(s []string) string {
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, ", ")
}
