package kv

import (
	"os"
	"strings"
)

// bootID tells one start of the machine from another; "" if that is unknown.
func bootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
