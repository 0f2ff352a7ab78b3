package plugins

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
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
// if nothing is. speaks are the protocol versions of this side, oldest first, and folders those in
// which its socket may be.
func checkHandshake(line, plugin string, speaks []int, folders ...string) string {
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
	return checkAddress(parts[2], parts[3], folders)
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

// checkAddress admits sockets in the folders of the process alone: a handshake must not send the
// kernel, and the prompts with it, to somebody else.
func checkAddress(network, address string, folders []string) string {
	for _, dir := range folders {
		if network == "unix" && strings.HasPrefix(filepath.Clean(address), filepath.Clean(dir)+string(filepath.Separator)) {
			return ""
		}
	}
	return fmt.Sprintf("announced the address %q, which is not a socket in its own folder: serve at a unix socket in the folder of PLUGIN_UNIX_SOCKET_DIR", clip(network+" "+address))
}

// dial connects to the socket that the process announced, if the process itself, or one that it
// started, serves there: a link in its folder may lead to anybody's socket.
func (c *child) dial(ctx context.Context, _ string) (net.Conn, error) {
	c.mu.Lock()
	at := c.address
	c.mu.Unlock()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", at)
	if err != nil {
		return nil, err
	}
	if pid, known := servedBy(conn.(*net.UnixConn)); known && !slices.Contains(kin(c.cmd.Process.Pid, c.dir, c.cage), pid) {
		c.blame(fmt.Sprintf("announced the socket %q, which another process serves", clip(at)))
		return nil, errors.Join(errors.New("another process serves the socket"), conn.Close())
	}
	return conn, nil
}

// clip shortens what a plugin wrote to what fits an error.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
