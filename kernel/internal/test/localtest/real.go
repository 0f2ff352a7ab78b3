package localtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Real is the GGUF file of SmolLM2-135M-Instruct (Apache-2.0), in the cache folder
// into which "just models" fetches it. Where it is not there, the test is skipped.
func Real(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("NOEMA_TEST_MODELS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skipf("set NOEMA_TEST_MODELS to a folder and run \"just models\": %v", err)
		}
		dir = filepath.Join(cache, "noema-models")
	}
	file := filepath.Join(dir, "SmolLM2-135M-Instruct.Q4_1.gguf")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("run \"just models\", or \"bash .ci/models\", to fetch a language model: %v", err)
	}
	return file
}
