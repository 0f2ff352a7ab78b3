package gateway

import (
	"errors"
	"fmt"
	"net/http"

	"noema/kernel/model/provider"
)

// maxDenials is how many requests in a row a provider may deny until the run stops. One
// among good answers fails its own trial only: servers also deny a request for its
// content, and some deny one in a thousand without a reason. With ten, a server that
// denies one request in five stops about one run of a thousand requests in ten thousand.
const maxDenials = 10

// denials counts the requests that failed in a way in which all others would, too.
// Gateway.mu guards it.
type denials struct {
	row      int   // since the last answer
	last     error // of the row
	answered bool  // the provider has answered in this execution
}

// isDenial reports whether the provider refuses the key, the account or the model, and
// not only the request.
func isDenial(err error) bool {
	var pe *provider.Error
	return errors.As(err, &pe) && (pe.Kind == provider.Unauthorized || pe.Kind == provider.Exhausted || pe.Status == http.StatusNotFound)
}

// denied counts a denial, and stops the run when there are too many in a row.
func (g *Gateway) denied(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.denials.row, g.denials.last = g.denials.row+1, err
	if g.denials.row >= maxDenials && g.fatal == nil {
		g.fatal = fmt.Errorf("%d requests in a row were denied: %w", g.denials.row, err)
	}
}

// answered counts an answer of the provider.
func (g *Gateway) answered() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stats.Provider++
	g.denials = denials{answered: true}
}

// Denied returns the last denial since the provider's last answer, such as a wrong key,
// or nil. All reports that the provider has answered nothing in this execution.
func (g *Gateway) Denied() (last error, all bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.denials.last, !g.denials.answered
}
