package local

import "noema/kernel/base/hub"

// hubName names a model in the cache of the Hugging Face hub by its repository
// and commit, as --model takes it, so that runs record the commit; empty for
// another path.
func hubName(path string) string {
	if name, ok := hub.NameOf(path); ok {
		return "hf/" + name
	}
	return ""
}
