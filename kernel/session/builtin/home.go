package builtin

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/joho/godotenv"

	"noema/kernel/base/files"
)

// FindUpward returns the nearest file of that name that is the user's own, here or in a folder
// above, up to the top of the repository or the user's home, or here alone where neither is above;
// "" for none. Files that somebody else owns, or could have put there, are passed over and reported.
func FindUpward(name string) (path string, told []string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	for _, dir := range upward(dir) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if why := foreign(dir, info); why != "" {
			told = append(told, fmt.Sprintf("%s is not read: %s", path, why))
			continue
		}
		return path, told, nil
	}
	return "", told, nil
}

// upward are the folders in which settings may be, the nearest first.
func upward(dir string) []string {
	home, err := os.UserHomeDir()
	if err == nil {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
	}
	all := []string{dir}
	for at := dir; ; at = filepath.Dir(at) {
		if at != dir {
			all = append(all, at)
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == home {
			return all
		}
		if at == filepath.Dir(at) {
			return all[:1]
		}
	}
}

// foreign is why a file in a folder may be another user's work; empty if it is not.
func foreign(dir string, file fs.FileInfo) string {
	folder, err := os.Stat(dir)
	if err != nil {
		return "its folder cannot be looked at"
	}
	own := func(i fs.FileInfo) bool {
		s, ok := i.Sys().(*syscall.Stat_t)
		return ok && int(s.Uid) == os.Geteuid()
	}
	others := func(i fs.FileInfo) bool { // a group of the user's own name has only the user
		s, ok := i.Sys().(*syscall.Stat_t)
		return i.Mode()&0o002 != 0 || i.Mode()&0o020 != 0 && (!ok || s.Gid != s.Uid)
	}
	switch {
	case !own(file):
		return "another user owns it"
	case others(file):
		return "others can write it: run chmod go-w on it"
	case !own(folder):
		return "another user owns its folder"
	case others(folder):
		return "others can write its folder"
	}
	return ""
}

// Limits of a .env file. A line may repeat the values of lines before it: forty
// lines that each name the one before twice would fill any memory.
const (
	maxEnvFile    = 1 << 20
	maxEnvLines   = 10_000 // each is looked for in all that is left of the file
	maxReferences = 20
)

// LoadEnvFile adds the keys and the addresses of providers that the nearest .env has to the
// environment; those that are set already win, and nothing else is taken. told says what of the
// file was passed over, and which addresses it gives.
func LoadEnvFile() (told []string, err error) {
	path, told, err := FindUpward(".env")
	if err != nil || path == "" {
		return told, err
	}
	values, err := readEnvFile(path)
	if err != nil {
		return told, err
	}
	keys, addresses := providerVariables()
	var refused []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, set := os.LookupEnv(name); set {
			continue
		}
		address := slices.Contains(addresses, name)
		switch {
		case address:
			told = append(told, fmt.Sprintf("%s is %s, by %s: requests and their key go there", name, shownURL(values[name]), path))
		case slices.Contains(keys, name):
		case meddling(name):
			refused = append(refused, name)
			continue
		default:
			continue
		}
		if err := os.Setenv(name, values[name]); err != nil {
			return told, fmt.Errorf("read %s: %w", path, err)
		}
	}
	if len(refused) > 0 {
		told = append(told, fmt.Sprintf("%s does not set %s: a .env gives keys and addresses of providers alone: set others in the environment", path, strings.Join(refused, ", ")))
	}
	return told, nil
}

// providerVariables are the names that a file may give.
func providerVariables() (keys, addresses []string) {
	keys = []string{"HF_TOKEN"}
	for _, p := range Providers() {
		if p.Server != nil {
			keys, addresses = append(keys, p.Server.KeyVariable...), append(addresses, p.Server.URLVariable)
		}
	}
	return keys, addresses
}

// meddling reports whether a variable would change what noema, or a program that it starts, does.
func meddling(name string) bool {
	upper := strings.ToUpper(name)
	return strings.HasPrefix(upper, "NOEMA_") || strings.HasPrefix(upper, "LD_") || strings.HasPrefix(upper, "GO") || strings.HasPrefix(upper, "PYTHON") ||
		strings.HasSuffix(upper, "_PROXY") || strings.HasPrefix(upper, "SSL_") || upper == "PATH" || upper == "HOME" || strings.HasPrefix(upper, "HF_")
}

// shownURL is an address without a password that may be in it.
func shownURL(text string) string {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return "not a URL"
	}
	return u.Redacted()
}

// readEnvFile reads a file of NAME=value lines.
func readEnvFile(path string) (map[string]string, error) {
	raw, err := files.Read(path, maxEnvFile)
	if err != nil {
		return nil, err
	}
	if bytes.Count(raw, []byte("\n")) > maxEnvLines {
		return nil, fmt.Errorf("read %s: it has more than %d lines", path, maxEnvLines)
	}
	if bytes.Count(raw, []byte("$")) > maxReferences {
		return nil, fmt.Errorf("read %s: more than %d values name other variables: write them out", path, maxReferences)
	}
	values, err := godotenv.UnmarshalBytes(raw)
	if err != nil {
		// The parser's message may quote a line, and lines hold keys.
		return nil, fmt.Errorf("read %s: not a list of NAME=value lines", path)
	}
	return values, nil
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
