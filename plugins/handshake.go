package plugins

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/files"
)

// maxHandshake is the longest first line that a plugin may write, in bytes.
const maxHandshake = 4 << 10

// coreVersion is the version of go-plugin's own handshake.
const coreVersion = "1"

const handshakeCure = "is it a noema plugin, and does it write nothing to stdout before it serves?"

// checkHandshake judges the line with which a plugin says how to reach it,
// CORE|VERSION|NETWORK|ADDRESS|PROTOCOL, and says what is wrong with it; empty
// if nothing is. speaks are the protocol versions of this side, oldest first.
func checkHandshake(line, plugin string, speaks []int) string {
	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 4 {
		return fmt.Sprintf("did not complete the handshake: it wrote %q to stdout: %s", clip(strings.TrimSpace(line)), handshakeCure)
	}
	if parts[0] != coreVersion {
		return fmt.Sprintf("announced handshake version %q, want %q: %s", clip(parts[0]), coreVersion, handshakeCure)
	}
	if fault := checkVersion(parts[1], plugin, speaks); fault != "" {
		return fault
	}
	if len(parts) < 5 || parts[4] != "grpc" {
		return fmt.Sprintf("announced a transport other than gRPC: its handshake is %q", clip(strings.TrimSpace(line)))
	}
	return checkAddress(parts[2], parts[3])
}

func checkVersion(announced, plugin string, speaks []int) string {
	v, err := strconv.Atoi(announced)
	rebuild := "noema plugin build " + files.Word(plugin)
	ours := strings.Trim(fmt.Sprint(speaks), "[]")
	switch {
	case err != nil:
		return fmt.Sprintf("announced %q as its protocol version, which is not a number: %s", clip(announced), handshakeCure)
	case slices.Contains(speaks, v):
		return ""
	case v < speaks[0]:
		return fmt.Sprintf("speaks protocol version %d, which is too old for this noema (it speaks %s): rebuild it with: %s", v, ours, rebuild)
	}
	return fmt.Sprintf("speaks protocol version %d, which is too new for this noema (it speaks %s): update noema, or rebuild the plugin for this one with: %s",
		v, ours, rebuild)
}

// checkAddress admits sockets of this machine alone: a handshake must not send
// the kernel, and the prompts with it, to somebody else.
func checkAddress(network, address string) string {
	switch network {
	case "unix":
		if address != "" {
			return ""
		}
	case "tcp":
		if host, _, err := net.SplitHostPort(address); err == nil {
			if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
				return ""
			}
		}
	}
	return fmt.Sprintf("announced the address %q, which is not a socket of this machine", clip(network+" "+address))
}

// clip shortens what a plugin wrote to what fits an error.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
