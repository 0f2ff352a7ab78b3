package dataset

import (
	"context"
	"slices"

	"noema/kernel/base/hub"
)

// Pull fetches the files of a data set that the cache lacks: its card and eval.yaml,
// and those of the split. found is told what the hub has before these are fetched.
func (l Library) Pull(ctx context.Context, name string, o Options, own bool, found func(Dataset)) (Dataset, error) {
	r, ready, err := parse(name, o)
	if err != nil {
		return Dataset{}, err
	}
	listing, err := l.Hub.List(ctx, r)
	if err != nil {
		return Dataset{}, err
	}
	about := slices.DeleteFunc(slices.Clone(listing.Files), func(f hub.File) bool { return f.Path != cardName && f.Path != evalName })
	snapshot, err := l.Hub.Fetch(ctx, listing, about)
	if err != nil {
		return Dataset{}, err
	}
	d, err := plan{listing, snapshot, ready, o, own}.dataset()
	if err != nil {
		return d, err
	}
	found(d)
	var data []hub.File
	for _, f := range d.Files {
		data = append(data, f.File)
	}
	if _, err := l.Hub.Fetch(ctx, listing, data); err != nil {
		return d, err
	}
	if err := l.Hub.Keep(listing); err != nil {
		return d, err
	}
	return l.Find(Prefix+listing.ID+"@"+listing.Commit, Options{Config: o.Config, Split: o.Split, Task: o.Task}, own)
}
