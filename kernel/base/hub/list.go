package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Listing is a repository at a commit.
type Listing struct {
	Ref
	Commit  string // of 40 hex digits
	License string // as the repository declares it; empty if it does not
	Files   []File // in the hub's order
}

// File is a file in a repository.
type File struct {
	Path   string // with slashes
	Size   int64  // bytes
	Digest string // SHA-256 of the content if Large, else its SHA-1 as a Git blob; in hex
	Large  bool   // kept outside Git (LFS, Xet)
}

// Limits on what a hub may answer.
const (
	maxFiles = 200_000
	maxSize  = 1 << 42 // bytes of a file
)

var hexDigest = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// List asks the hub for the commit of a revision and for its files.
func (c *Client) List(ctx context.Context, r Ref) (Listing, error) {
	l, err := c.list(ctx, r)
	if err != nil {
		return l, fmt.Errorf("list %q: %w", r.ID, err)
	}
	return l, nil
}

func (c *Client) list(ctx context.Context, r Ref) (Listing, error) {
	l := Listing{Ref: r}
	var info struct {
		SHA  string `json:"sha"`
		Card struct {
			License json.RawMessage `json:"license"` // a name or a list
			Name    string          `json:"license_name"`
			Link    string          `json:"license_link"`
		} `json:"cardData"`
	}
	api := fmt.Sprintf("%s/api/%s/%s", c.Endpoint, r.Kind, r.ID)
	if _, err := c.getJSON(ctx, r, api+"/revision/"+url.PathEscape(r.revision()), &info); err != nil {
		return l, err
	}
	if !commit.MatchString(info.SHA) {
		return l, fmt.Errorf("the answer of %s names no commit: is it a Hugging Face hub? See HF_ENDPOINT", c.Endpoint)
	}
	l.Commit = info.SHA
	l.License = license(info.Card.License, info.Card.Name, info.Card.Link)
	for next := api + "/tree/" + l.Commit + "?recursive=true"; next != ""; {
		page, after, err := c.tree(ctx, r, next)
		if err != nil {
			return l, err
		}
		if l.Files = append(l.Files, page...); len(l.Files) > maxFiles {
			return l, fmt.Errorf("the repository has more than %d files", maxFiles)
		}
		if after == next || len(page) == 0 {
			break
		}
		next = after
	}
	return l, nil
}

// license is what a card declares, as text.
func license(declared json.RawMessage, name, link string) string {
	text := strings.Trim(string(declared), `"`)
	var several []string
	if json.Unmarshal(declared, &several) == nil {
		text = strings.Join(several, ", ")
	}
	if text == "null" || text == "other" {
		text = name
	}
	if link != "" && text != "" {
		text += " (" + link + ")"
	}
	return text
}

// tree reads one page of a listing, and gives the address of the next.
func (c *Client) tree(ctx context.Context, r Ref, address string) (page []File, next string, err error) {
	var entries []struct {
		Type string `json:"type"`
		OID  string `json:"oid"`
		Size int64  `json:"size"`
		Path string `json:"path"`
		LFS  *struct {
			OID  string `json:"oid"`
			Size int64  `json:"size"`
		} `json:"lfs"`
	}
	header, err := c.getJSON(ctx, r, address, &entries)
	if err != nil {
		return nil, "", err
	}
	for _, e := range entries {
		if e.Type == "directory" {
			continue
		}
		f := File{Path: e.Path, Size: e.Size, Digest: e.OID}
		if e.LFS != nil {
			f.Digest, f.Size, f.Large = e.LFS.OID, e.LFS.Size, true
		}
		if !safe(f.Path) || f.Size < 0 || f.Size > maxSize || !hexDigest.MatchString(f.Digest) || f.Large != (len(f.Digest) == 64) {
			return nil, "", fmt.Errorf("the listing names a file that cannot be: %.200q of %d bytes with digest %.80q", f.Path, f.Size, f.Digest)
		}
		page = append(page, f)
	}
	if m := regexp.MustCompile(`<([^>]+)>;\s*rel="next"`).FindStringSubmatch(header.Get("Link")); m != nil {
		if next = m[1]; !strings.HasPrefix(next, c.Endpoint+"/") {
			return nil, "", fmt.Errorf("the listing goes on at another address, %.200q", next)
		}
	}
	return page, next, nil
}

// path is where a repository stands on the hub.
func (r Ref) path() string {
	if r.Kind == Model {
		return r.ID
	}
	return string(r.Kind) + "/" + r.ID
}
