package isolate

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Enforce restricts the calling thread for good, and all that it starts later,
// and tries on it what must fail. The caller has locked its goroutine to the
// thread and never unlocks it. What the system refuses is left out, and the
// State says so.
func Enforce(r Rules) State {
	var s State
	err := dropCapabilities()
	s.doubt("capabilities", err)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		s.doubt("no_new_privs", err)
		return s
	}
	by, scoped, err := restrictFiles(r)
	s.doubt("landlock", err)
	if err == nil {
		s.By = append(s.By, by)
	}
	err = restrictCalls(refusals(r), slices.Concat(permitted, permittedHere))
	s.doubt("seccomp", err)
	if err == nil {
		s.By = append(s.By, "seccomp")
	}
	s.Try(r, scoped)
	return s
}

// doubt notes what the system did not offer.
func (s *State) doubt(what string, err error) {
	if err == nil {
		return
	}
	if s.Why != "" {
		s.Why += "; "
	}
	s.Why += what + ": " + err.Error()
}

// dropCapabilities leaves root's plugins no more power over the machine than
// an ordinary user's have. Without new privileges a program that root executes
// gains none again, so that it does not matter that only root can lower the
// bounding set. The ambient set goes with the inheritable one.
func dropCapabilities() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}

// capable reports whether the calling thread has a capability.
func capable() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	err := unix.Capget(&header, &has[0])
	return err != nil || has != [2]unix.CapUserData{}
}
