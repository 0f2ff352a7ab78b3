package openaitest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

type wireReply struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []wireChoice `json:"choices"`
	Usage   *wireUsage   `json:"usage,omitempty"`
}

type wireChoice struct {
	Index   int         `json:"index"`
	Finish  string      `json:"finish_reason"`
	Message wireMessage `json:"message"`
}

type wireMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"`
	ToolCalls []wireCall `json:"tool_calls,omitempty"`
}

type wireCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type wireUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
}

// encode writes r as the protocol's JSON.
func encode(req Request, r Reply) []byte {
	message := wireMessage{Role: "assistant"}
	if r.Refusal != "" {
		message.Refusal = &r.Refusal
	} else if r.Text != "" || len(r.ToolCalls) == 0 {
		message.Content = &r.Text
	}
	finish := "stop"
	for i, c := range r.ToolCalls {
		finish = "tool_calls"
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_%d", i+1)
		}
		message.ToolCalls = append(message.ToolCalls, wireCall{id, "function", wireFunction{c.Name, c.Arguments}})
	}
	if r.Finish != "" {
		finish = r.Finish
	}
	model := r.Model
	if model == "" {
		model = req.Model
	}
	raw, err := json.Marshal(wireReply{
		ID: fmt.Sprintf("chatcmpl-%d", req.Number), Object: "chat.completion", Created: 1,
		Model:   model,
		Choices: []wireChoice{{Finish: finish, Message: message}},
		Usage:   usage(req, r),
	})
	if err != nil { // strings and integers always encode
		panic(err)
	}
	return raw
}

func usage(req Request, r Reply) *wireUsage {
	if r.NoUsage {
		return nil
	}
	u := wireUsage{Prompt: r.Input, Completion: r.Output}
	if u.Prompt == 0 {
		u.Prompt = int64(len(req.Prompt())/4 + 1)
	}
	if u.Completion == 0 {
		u.Completion = int64(len(r.Text)/4 + 1)
	}
	u.Total = u.Prompt + u.Completion
	return &u
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// writeError answers in the protocol's error form; empty param and code are null.
func writeError(w http.ResponseWriter, status int, message, param, code string) {
	type detail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	d := detail{Message: message, Type: "invalid_request_error"}
	if param != "" {
		d.Param = &param
	}
	if code != "" {
		d.Code = &code
	}
	raw, err := json.Marshal(map[string]detail{"error": d})
	if err != nil { // strings always encode
		panic(err)
	}
	writeJSON(w, status, raw)
}
