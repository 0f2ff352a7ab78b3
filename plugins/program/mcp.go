package program

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"noema/methods"
)

// serveMCP serves the problem's tools by the Model Context Protocol at /tools/mcp: its
// streamable HTTP transport without sessions, where each message is answered by one JSON
// object. What it needs of the protocol are four messages; the SDK for Go would bring a
// module tree for its clients, sessions and authorization.
//
// Source: Model Context Protocol, revision 2025-06-18, "Transports" and "Tools".
func (e *endpoint) serveMCP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost { // there is no stream to listen to, and no session to end
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m message
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	switch {
	case err != nil:
		writeJSON(w, http.StatusBadRequest, encode(response{Error: &fault{-32700, "read message: " + err.Error()}}))
	case len(m.ID) == 0: // a notification
		w.WriteHeader(http.StatusAccepted)
	default:
		result, fault := e.mcp(r, m)
		writeJSON(w, http.StatusOK, encode(response{ID: m.ID, Result: result, Error: fault}))
	}
}

// message is a request of JSON-RPC 2.0.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name            string          `json:"name"`
		Arguments       json.RawMessage `json:"arguments"`
		ProtocolVersion string          `json:"protocolVersion"`
	} `json:"params"`
}

// response is its answer, with one of both.
type response struct {
	Version version         `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *fault          `json:"error,omitempty"`
}

type version struct{}

// MarshalJSON implements [json.Marshaler].
func (version) MarshalJSON() ([]byte, error) { return []byte(`"2.0"`), nil }

type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// mcp answers one message.
func (e *endpoint) mcp(r *http.Request, m message) (result any, f *fault) {
	switch m.Method {
	case "initialize":
		return map[string]any{
			"protocolVersion": m.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "noema", "version": "1"},
		}, nil
	case "ping":
		return map[string]any{}, nil
	case "tools/list":
		return map[string]any{"tools": e.toolList("inputSchema")}, nil
	case "tools/call":
	default:
		return nil, &fault{-32601, fmt.Sprintf("unknown method %q", m.Method)}
	}
	if !slices.ContainsFunc(e.trial.Tools, func(t methods.ToolSpec) bool { return t.Name == m.Params.Name }) {
		return nil, &fault{-32602, fmt.Sprintf("the problem has no tool %q", m.Params.Name)}
	}
	arguments := m.Params.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage(`{}`)
	}
	said, err := e.callTool(r, m.Params.Name, arguments)
	if err != nil {
		return nil, &fault{-32603, err.Error()}
	}
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": said.Content}}, "isError": said.IsError}, nil
}
