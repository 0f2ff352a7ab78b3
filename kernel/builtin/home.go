package builtin

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/joho/godotenv"
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

// LoadEnvFile adds the variables of the nearest .env to the environment;
// those that are set already win.
func LoadEnvFile() error {
	path, err := FindUpward(".env")
	if err != nil || path == "" {
		return err
	}
	if err := godotenv.Load(path); err != nil {
		// The parser's message may quote a line, and lines hold keys.
		return fmt.Errorf("read %s: not a list of NAME=value lines", path)
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
