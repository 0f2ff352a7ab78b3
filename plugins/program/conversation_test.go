package program

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"noema/plugins/program/wires"
)

// TestConversationsAreServed: a request that goes on from a reply by its id, or refers to an item of
// one, is asked as one that holds all of it; what the endpoint did not issue is refused.
func TestConversationsAreServed(t *testing.T) {
	var asked []json.RawMessage
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Input  []json.RawMessage `json:"input"`
			Before *string           `json:"previous_response_id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Before != nil {
			t.Errorf("%v, before %v", err, body.Before)
		}
		asked = body.Input
		fmt.Fprintf(w, `{"id":"resp_theirs","object":"response","created_at":7,"status":"completed","model":"m","output":[{"type":"message","id":"msg_theirs","role":"assistant","status":"completed","content":[{"type":"output_text","text":"said %d","annotations":[]}]}],"usage":{"input_tokens":1,"output_tokens":1}}`, len(asked))
	}))
	defer server.Close()
	near := httptest.NewServer(between(t, server.URL, nil, wires.Responses))
	defer near.Close()
	post := func(body map[string]any) (status int, reply struct {
		ID     string
		Output []struct{ ID string }
		Error  struct{ Message string }
	}) {
		raw, _ := json.Marshal(body)
		res, err := http.Post(near.URL+"/v1/responses", "application/json", strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, _ := io.ReadAll(res.Body)
		if err := json.Unmarshal(got, &reply); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		return res.StatusCode, reply
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 90 { // within one trial
		var history []string // what a client that keeps it itself would send
		before, item := "", ""
		for turn := range 1 + r.IntN(5) {
			text := fmt.Sprintf("item_reference %d msg_%08x", turn, r.Uint32())
			body := map[string]any{"model": "m", "input": []any{map[string]any{"role": "user", "content": text}}}
			switch {
			case before != "" && r.IntN(3) == 0: // all but the last reply is sent, and that by its id
				var items []any
				for _, h := range history[:len(history)-1] {
					items = append(items, json.RawMessage(h))
				}
				body["input"] = append(append(items, map[string]any{"type": "item_reference", "id": item}), body["input"].([]any)...)
			case before != "":
				body["previous_response_id"] = before
			}
			history = append(history, fmt.Sprintf(`{"content":%q,"role":"user"}`, text))
			status, reply := post(body)
			if status != http.StatusOK || len(reply.Output) != 1 {
				t.Fatalf("%d: %+v", status, reply)
			}
			var want, got []any
			if err := json.Unmarshal([]byte("["+strings.Join(history, ",")+"]"), &want); err != nil {
				t.Fatal(err)
			}
			sent, _ := json.Marshal(asked)
			if err := json.Unmarshal(sent, &got); err != nil || !reflect.DeepEqual(want, got) {
				t.Fatalf("asked %s\nwant %s", sent, history)
			}
			before, item = reply.ID, reply.Output[0].ID
			history = append(history, fmt.Sprintf(`{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"said %d","annotations":[]}]}`, len(got)))
		}
	}
	for name, body := range map[string]map[string]any{
		"previous_response_id": {"previous_response_id": "resp_unknown", "input": "a"},
		"item_reference":       {"input": []any{map[string]any{"type": "item_reference", "id": "msg_unknown"}}},
	} {
		if status, reply := post(body); status != http.StatusBadRequest || !strings.Contains(reply.Error.Message, name) {
			t.Errorf("%s: %d, %+v", name, status, reply)
		}
	}
}
