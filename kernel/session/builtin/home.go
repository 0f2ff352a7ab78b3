package builtin

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/joho/godotenv"

	"noema/kernel/base/files"
)

// FindUpward returns the nearest file of that name, here or in a folder
// above, or "".
func FindUpward(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}

// Limits of a .env file. A line may repeat the values of lines before it: forty
// lines that each name the one before twice would fill any memory.
const (
	maxEnvFile    = 1 << 20
	maxEnvLines   = 10_000 // each is looked for in all that is left of the file
	maxReferences = 20
)

// LoadEnvFile adds the variables of the nearest .env to the environment;
// those that are set already win.
func LoadEnvFile() error {
	path, err := FindUpward(".env")
	if err != nil || path == "" {
		return err
	}
	raw, err := files.Read(path, maxEnvFile)
	if err != nil {
		return err
	}
	if bytes.Count(raw, []byte("\n")) > maxEnvLines {
		return fmt.Errorf("read %s: it has more than %d lines", path, maxEnvLines)
	}
	if bytes.Count(raw, []byte("$")) > maxReferences {
		return fmt.Errorf("read %s: more than %d values name other variables: write them out", path, maxReferences)
	}
	values, err := godotenv.UnmarshalBytes(raw)
	if err != nil {
		// The parser's message may quote a line, and lines hold keys.
		return fmt.Errorf("read %s: not a list of NAME=value lines", path)
	}
	for name, value := range values {
		if _, set := os.LookupEnv(name); set {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	return nil
}

// Home is the folder of the store and of plugins: the given one, or else noema
// in the user's data folder.
func Home(given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the user's data folder: %w: set NOEMA_HOME", err)
		}
		data = filepath.Join(user, ".local", "share")
	}
	return filepath.Abs(filepath.Join(data, "noema"))
}

// PluginDirs lists where plugins are looked for: the given list of folders,
// separated as in PATH, then the one in home.
func PluginDirs(list, home string) []string {
	return append(filepath.SplitList(list), filepath.Join(home, "plugins"))
}
