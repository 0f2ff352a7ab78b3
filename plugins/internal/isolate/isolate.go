// Package isolate takes from a thread, and from what it starts, the rights that
// a plugin does not need: all files but those named, and the network. It uses
// what the operating system lets an ordinary user do, Landlock for files and
// seccomp for sockets, and reports what is in force.
//
// The restrictions are set on one thread of the host, which then starts the
// plugin: a child inherits those of the thread that forks it. So no launcher is
// needed, and isolation works alike in the noema binary, in a script and in a
// test.
package isolate

import "strings"

// Rules say what is left to a plugin.
type Rules struct {
	Read    []string // files and folders that it may read and execute
	Write   []string // folders in which it may do anything
	Network bool     // it may open connections
}

// State is what is in force.
type State struct {
	Files   string // what bounds files, such as "landlock 7"; empty if nothing does
	Network string // what bounds the network; empty if nothing does
	Why     string // what the system refused; empty if nothing
	Open    bool   // the network is permitted
}

// Full reports whether everything is in force that was asked for.
func (s State) Full() bool { return s.Files != "" && s.Why == "" }

// String is the state as it is recorded.
func (s State) String() string {
	if s.Files == "" && s.Network == "" {
		return strings.TrimSuffix("not isolated: "+s.Why, ": ")
	}
	text := "files=" + orNone(s.Files) + ", network="
	if s.Open {
		return text + "permitted"
	}
	text += orNone(s.Network)
	if s.Why != "" {
		text += " (" + s.Why + ")"
	}
	return text
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
