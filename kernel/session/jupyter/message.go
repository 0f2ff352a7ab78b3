package jupyter

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"noema/kernel/base/files"
	"noema/methods"
)

// protocolVersion is the version of the messaging protocol that is spoken.
const protocolVersion = "5.4"

// header begins every message.
type header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
}

// message is a message of the protocol, without its signature.
type message struct {
	route   [][]byte // the frames before the delimiter: the return address
	header  header
	content json.RawMessage
	raw     json.RawMessage // the header as received
	from    *peer
	// metadata is the client's own, such as JupyterLab's id of the cell.
	metadata json.RawMessage
}

var delimiter = []byte("<IDS|MSG>")

// signer signs and checks messages with the key of the connection file.
type signer struct {
	key []byte

	mu     sync.Mutex // guards what follows
	seen   map[string]bool
	recent []string // the same in order, as a ring
	next   int
}

// maxSeen is how many signatures are remembered, as in Jupyter's own kernels.
const maxSeen = 1 << 16

func newSigner(key string) *signer {
	return &signer{key: []byte(key), seen: map[string]bool{}}
}

// fresh reports whether a signature is new, and remembers it. No two messages are
// the same, because each has an id and a time.
func (s *signer) fresh(signature []byte) bool {
	if len(s.key) == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := string(signature)
	if s.seen[name] {
		return false
	}
	s.seen[name] = true
	if len(s.recent) < maxSeen {
		s.recent = append(s.recent, name)
		return true
	}
	delete(s.seen, s.recent[s.next])
	s.recent[s.next] = name
	s.next = (s.next + 1) % maxSeen
	return true
}

func (s *signer) sign(parts ...[]byte) string {
	if len(s.key) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, s.key)
	for _, p := range parts {
		mac.Write(p)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// decode reads a message and checks its signature.
func (s *signer) decode(frames [][]byte) (*message, error) {
	at := -1
	for i, f := range frames {
		if bytes.Equal(f, delimiter) {
			at = i
			break
		}
	}
	if at < 0 || len(frames) < at+6 {
		return nil, errors.New("read message: too few frames")
	}
	m := &message{route: frames[:at], raw: frames[at+2], metadata: frames[at+4], content: frames[at+5]}
	want := s.sign(frames[at+2 : at+6]...)
	if !hmac.Equal([]byte(want), frames[at+1]) {
		return nil, errors.New("read message: wrong signature")
	}
	if !s.fresh(frames[at+1]) {
		return nil, errors.New("read message: repeated message")
	}
	if err := json.Unmarshal(m.raw, &m.header); err != nil {
		return nil, fmt.Errorf("read message: header: %w", err)
	}
	return m, nil
}

// encode makes the frames of a message with a return address.
func (s *signer) encode(route [][]byte, h header, parent json.RawMessage, content any) ([][]byte, error) {
	if len(parent) == 0 {
		parent = json.RawMessage("{}")
	}
	rawHeader, err := methods.EncodeJSON(h)
	if err != nil {
		return nil, fmt.Errorf("write message %s: %w", h.Type, err)
	}
	rawContent, err := methods.EncodeJSON(content)
	if err != nil {
		return nil, fmt.Errorf("write message %s: %w", h.Type, err)
	}
	parts := [][]byte{rawHeader, parent, []byte("{}"), rawContent}
	frames := append(append([][]byte{}, route...), delimiter, []byte(s.sign(parts...)))
	return append(frames, parts...), nil
}

// newID is a fresh identity of a message or session.
func newID() string { return rand.Text() }

// newHeader makes the header of a message from the kernel.
func newHeader(session, kind string) header {
	return header{
		ID: newID(), Session: session, Username: "noema", Type: kind, Version: protocolVersion,
		Date: time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
	}
}

// Connection is the content of a connection file.
type Connection struct {
	Transport string `json:"transport"`
	IP        string `json:"ip"`
	Shell     int    `json:"shell_port"`
	Control   int    `json:"control_port"`
	Stdin     int    `json:"stdin_port"`
	IOPub     int    `json:"iopub_port"`
	Heartbeat int    `json:"hb_port"`
	Scheme    string `json:"signature_scheme"`
	Key       string `json:"key"`
}

// ReadConnection reads a connection file, which Jupyter wrote for this kernel.
func ReadConnection(file string) (Connection, error) {
	var c Connection
	raw, err := files.Read(file, files.MaxConfig)
	if err != nil {
		return c, fmt.Errorf("read connection file: %w", err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("read connection file %s: %w", file, err)
	}
	if c.Transport != "tcp" {
		return c, fmt.Errorf("read connection file %s: transport %q is not supported: use tcp", file, c.Transport)
	}
	if c.Key != "" && c.Scheme != "" && c.Scheme != "hmac-sha256" {
		return c, fmt.Errorf("read connection file %s: signature scheme %q is not supported: use hmac-sha256", file, c.Scheme)
	}
	return c, nil
}
