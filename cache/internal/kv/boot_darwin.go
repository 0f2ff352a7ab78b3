package kv

import "golang.org/x/sys/unix"

// bootID tells one start of the machine from another; "" if that is unknown.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
