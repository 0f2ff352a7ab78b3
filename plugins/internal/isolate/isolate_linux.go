package isolate

import (
	"strings"

	"golang.org/x/sys/unix"
)

// Enforce restricts the calling thread for good, and all that it starts later.
// The caller has locked its goroutine to the thread and never unlocks it. What
// the system refuses is left out, and the State says so.
func Enforce(r Rules) State {
	s := State{Open: r.Network}
	var why []string
	dropCapabilities()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return State{Why: "no_new_privs: " + err.Error()}
	}
	files, tcp, err := restrictFiles(r)
	if err != nil {
		why = append(why, "landlock: "+err.Error())
	}
	s.Files = files
	if r.Network {
		s.Why = strings.Join(why, "; ")
		return s
	}
	s.Network = "seccomp"
	if err := restrictSockets(); err != nil {
		why = append(why, "seccomp: "+err.Error())
		s.Network = ""
		if tcp {
			s.Network = "landlock for TCP alone"
		}
	}
	s.Why = strings.Join(why, "; ")
	return s
}

// dropCapabilities leaves root's plugins no more power over the machine than an
// ordinary user's have, except that they can read what others own, for code may
// lie there. It takes effect when the thread's child executes its program.
func dropCapabilities() {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		switch c {
		case unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER:
		default:
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // who is not root has none to drop
		}
	}
}
