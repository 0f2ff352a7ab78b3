package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"noema/kernel/base/pause"
)

const (
	runDir     = "run"
	socketFile = "owner.sock"
	addrFile   = "owner.addr"
	tempPrefix = "noema-store-"
	// maxSocketPath is safe on every system: macOS allows 104 bytes.
	maxSocketPath = 100

	// helloTime bounds the greeting, so that a stopped owner is noticed;
	// minHello is what it gets at the end of the patience.
	helloTime = 2 * time.Second
	minHello  = 10 * time.Millisecond

	minBackoff = time.Millisecond
	maxBackoff = 50 * time.Millisecond
)

// elect makes this process the owner of dir, or connects it to the owner. It
// tries both in turn, as owners come and go, until the patience ends.
func elect(ctx context.Context, dir string, o Options) (backend, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	deadline := time.Now().Add(o.Patience)
	backoff := minBackoff
	for {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("open store %q: %w", dir, ctx.Err())
		}
		b, err := tryOwn(dir, o)
		if b != nil || err != nil {
			return b, err
		}
		c, err := dialOwner(ctx, dir, min(helloTime, max(time.Until(deadline), minHello)))
		if err == nil && refusal(dir, o) == nil {
			if err := upgrade(dir); err != nil { // of an owner that is older
				return nil, errors.Join(err, c.close())
			}
		}
		if err == nil {
			return c, nil
		}
		if errors.Is(err, errProtocol) {
			return nil, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("open store %q: %s holds it but has not answered for %s: end that process and try again (%w)",
				dir, holder(dir), o.Patience, err)
		}
		if err := pause.For(ctx, backoff); err != nil {
			return nil, fmt.Errorf("open store %q: %w", dir, err)
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// holder names the process that has Badger open, for an error message.
func holder(dir string) string {
	raw, err := os.ReadFile(filepath.Join(dir, dataDir, "LOCK"))
	if pid := strings.TrimSpace(string(raw)); err == nil && pid != "" {
		return "process " + pid
	}
	return "another process"
}

// tryOwn returns nil and no error if another process owns dir.
func tryOwn(dir string, o Options) (backend, error) {
	format, err := checkFormat(dir)
	if err != nil {
		return nil, err
	}
	reading := refusal(dir, o)
	if reading != nil && format == 0 {
		return nil, reading
	}
	lock, err := lockDir(dir, reading)
	if lock == nil || err != nil {
		return nil, err
	}
	// A process that is killed while it starts another leaves its locks to that one for a
	// moment: this one may be gone, and Badger's not yet.
	data, err := lockDir(filepath.Join(dir, dataDir), reading)
	if data == nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, lock.Close())
	}
	if data != nil {
		if err := data.Close(); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
	}
	own, err := newOwner(dir, o, lock, reading)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return own, nil
}

// lockDir takes the lock on dir; it returns nil if another process has it.
// Processes that only read may share it.
func lockDir(dir string, reading error) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	err = unix.EWOULDBLOCK
	if !errors.Is(reading, ErrReadOnly) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if reading != nil && errors.Is(err, unix.EWOULDBLOCK) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return nil, f.Close()
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock store %q: %w: the file system may not support locks: point NOEMA_HOME to a local disk", dir, err)
	}
	return f, nil
}

// own is the owner's backend with the server for the other processes.
type own struct {
	*local
	lock     *os.File
	listener *net.UnixListener // nil if only this process reads
	tempDir  string            // of the socket, if it is not in the store

	mu    sync.Mutex
	conns map[net.Conn]bool // nil once closing
	wg    sync.WaitGroup
}

func newOwner(dir string, o Options, lock *os.File, reading error) (*own, error) {
	if reading == nil { // under the lock: another process may just have made it
		if err := upgrade(dir); err != nil {
			return nil, err
		}
	}
	l, err := openLocal(dir, o, reading)
	if err != nil {
		return nil, err
	}
	if reading == nil {
		l.collect()
	}
	w := &own{local: l, lock: lock, conns: map[net.Conn]bool{}}
	err = w.serve(dir)
	l.alone = err == nil
	if err != nil && reading != nil { // others may read by themselves
		err = unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return w, nil
}

// serve begins to serve other processes.
func (w *own) serve(dir string) error {
	if errors.Is(w.reading, ErrReadOnly) {
		return w.reading // there is no place for a socket
	}
	id, err := identify(w.lock)
	if err != nil {
		return err
	}
	if err := w.listen(dir); err != nil {
		return err
	}
	server := rpc.NewServer()
	if err := server.RegisterName(service, &Service{local: w.local, id: id}); err != nil {
		err = errors.Join(err, w.listener.Close())
		w.listener = nil
		return err
	}
	w.wg.Go(func() { w.accept(server) })
	return nil
}

// listen makes the socket, in the place of one that a killed owner left.
func (w *own) listen(dir string) error {
	run := filepath.Join(dir, runDir)
	if err := os.MkdirAll(run, 0o700); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	if err := os.Chmod(run, 0o700); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	removeStale(run)
	path := filepath.Join(run, socketFile)
	if len(path) > maxSocketPath {
		temp, err := os.MkdirTemp("", tempPrefix) // mode 0700
		if err != nil {
			return fmt.Errorf("open store: %w", err)
		}
		w.tempDir, path = temp, filepath.Join(temp, socketFile)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("open store: serve other processes: %w", err)
	}
	err = os.Chmod(path, 0o600)
	if err == nil && w.tempDir != "" {
		err = os.WriteFile(filepath.Join(run, addrFile), []byte(path), 0o600)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open store: %w", err), l.Close())
	}
	w.listener = l
	return nil
}

// removeStale removes the sockets of an owner that was killed.
func removeStale(run string) {
	_ = os.Remove(filepath.Join(run, socketFile))
	addr := filepath.Join(run, addrFile)
	raw, err := os.ReadFile(addr)
	if err != nil {
		return
	}
	_ = os.Remove(addr)
	if path := string(raw); filepath.Base(path) == socketFile && strings.HasPrefix(filepath.Base(filepath.Dir(path)), tempPrefix) {
		_ = os.Remove(path)
		_ = os.Remove(filepath.Dir(path)) // only if it is empty
	}
}

func (w *own) accept(server *rpc.Server) {
	for {
		conn, err := w.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of file descriptors, most likely: others may be freed.
			if pause.For(context.Background(), maxBackoff) != nil {
				return
			}
			continue
		}
		if !w.keep(conn) {
			_ = conn.Close()
			return
		}
		w.wg.Go(func() {
			server.ServeConn(conn) // closes conn
			w.collect()
			w.mu.Lock()
			delete(w.conns, conn)
			w.mu.Unlock()
		})
	}
}

func (w *own) keep(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conns == nil {
		return false
	}
	w.conns[conn] = true
	return true
}

// close gives the store up in the order that the next owner needs: no new
// callers, no running operations, Badger closed, lock released.
func (w *own) close() error {
	w.mu.Lock()
	conns := w.conns
	w.conns = nil
	w.mu.Unlock()
	if conns == nil {
		return nil
	}
	var err error
	if w.listener != nil {
		err = w.listener.Close() // removes the socket, too
	}
	err = errors.Join(err, w.local.close())
	w.mu.Lock()
	for c := range conns {
		_ = c.Close()
	}
	w.mu.Unlock()
	w.wg.Wait()
	if w.tempDir != "" {
		_ = os.Remove(filepath.Join(w.dir, runDir, addrFile))
		_ = os.Remove(w.tempDir)
	}
	return errors.Join(err, w.lock.Close())
}

// identity tells directories apart, so that a copied store never leads to the
// owner of the original.
type identity struct{ dev, ino uint64 }

func identify(f *os.File) (identity, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return identity{}, fmt.Errorf("open store: %w", err)
	}
	return identity{uint64(st.Dev), st.Ino}, nil //nolint:unconvert // Dev's type differs between systems
}
