package openaitest

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault answers a request in place of the server. reply is the JSON body that
// the request would have got.
type Fault func(w http.ResponseWriter, r *http.Request, reply []byte)

// RateLimit answers 429. after is sent as the Retry-After header, for example
// "2" or an HTTP date; if it is empty, there is no such header.
func RateLimit(after string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		writeError(w, http.StatusTooManyRequests, "Rate limit reached.", "", "rate_limit_exceeded")
	}
}

// Status answers an error of the protocol's form. param and code may be empty.
func Status(status int, message, param, code string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		writeError(w, status, message, param, code)
	}
}

// ServerError answers 500.
func ServerError() Fault {
	return Status(http.StatusInternalServerError, "The server had an error.", "", "server_error")
}

// HTML answers a page, as proxies in front of a server do.
func HTML(status int) Fault {
	return Raw(status, "text/html; charset=utf-8", "<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>")
}

// Raw answers a body as it is.
func Raw(status int, contentType, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Slow sends the right reply after d, or nothing if the client leaves before.
func Slow(d time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, reply []byte) {
		if wait(r, d) {
			writeJSON(w, http.StatusOK, reply)
		}
	}
}

// Hang answers nothing until the client leaves.
func Hang() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() }
}

// Cut closes the connection in the middle of the body.
func Cut() Fault {
	return func(w http.ResponseWriter, _ *http.Request, reply []byte) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
		_, _ = w.Write(reply[:len(reply)/2])
		panic(http.ErrAbortHandler)
	}
}

// Drop closes the connection before any byte of a reply.
func Drop() Fault {
	return func(http.ResponseWriter, *http.Request, []byte) { panic(http.ErrAbortHandler) }
}

// MalformedJSON answers 200 with a body that ends too early.
func MalformedJSON() Fault {
	return func(w http.ResponseWriter, _ *http.Request, reply []byte) {
		writeJSON(w, http.StatusOK, reply[:len(reply)/2])
	}
}

// EmptyChoices answers 200 with no choice in it.
func EmptyChoices() Fault {
	return Raw(http.StatusOK, "application/json", `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[]}`)
}

// Huge answers 200 with a text of size bytes.
func Huge(size int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"`)
		chunk := strings.Repeat("a", 64<<10)
		for ; size > 0; size -= len(chunk) {
			if _, err := io.WriteString(w, chunk[:min(size, len(chunk))]); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, `"}}]}`)
	}
}
