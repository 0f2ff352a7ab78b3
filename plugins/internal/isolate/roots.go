package isolate

import (
	"path/filepath"
	"slices"
	"strings"
)

// System is what every program may read: libraries, interpreters and their
// settings. It names folders one by one, because others beside them, such as
// /usr/src and /etc/ssl/private, hold users' files and keys.
func System() []string {
	return []string{
		"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec",
		"/usr/share", "/usr/include", "/usr/local/bin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/libexec", "/usr/local/go",
		"/nix/store", "/gnu/store", "/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup",
		"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld-musl-x86_64.path", "/etc/alternatives",
		"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/pki/tls/certs", "/etc/ca-certificates",
		"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/services",
		"/etc/protocols", "/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/mime.types", "/etc/os-release", "/etc/fonts",
	}
}

// Without leaves out of roots what holds a private folder or file, or is one.
func Without(roots, private []string) []string {
	return slices.DeleteFunc(slices.Clone(roots), func(root string) bool {
		return slices.ContainsFunc(private, func(p string) bool {
			rel, err := filepath.Rel(root, p)
			return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
		})
	})
}
