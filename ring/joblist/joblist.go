package joblist

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// An Entry is what other processes of this user on this host need to ask a rendezvous for
// its status.
type Entry struct {
	Command string // command that runs the job, for people
	Address string // address of the rendezvous
	Token   token.Token
	PID     int
	Since   time.Time
}

// entryFile is an Entry in its file.
type entryFile struct {
	Command string    `json:"command"`
	Address string    `json:"address"`
	Token   string    `json:"token"` // hexadecimal digits; "": none
	PID     int       `json:"pid"`
	HostID  string    `json:"host_id"` // a folder may be on a disk that several hosts share
	Host    string    `json:"host"`    // its name
	Since   time.Time `json:"since"`
}

const (
	entrySuffix     = ".job"
	unlockedPrefix  = ".new-" // of a file without a lock yet
	maxEntryBytes   = 16 << 10
	maxEntries      = 4096          // files of a folder that are read
	unlockedTimeout = 1 * time.Hour // a file that is older and has no lock yet is of a dead process
	randomBytes     = 8             // make the names of the files of one process differ
)

// Add lists a rendezvous of this process until the process ends, or until remove is called.
// A folder that cannot be used is exitcode.Auth or CannotCreate.
func Add(getenv func(string) string, command, address string, secret token.Token) (remove func(), err error) {
	var errs []error
	for _, dir := range folders(getenv) {
		err := makeFolder(dir)
		if err == nil {
			readFolder(dir) // removes the files of dead processes
			remove, err = write(dir, Entry{command, reachable(address), secret, os.Getpid(), time.Now()})
		}
		if err == nil {
			return remove, nil
		}
		errs = append(errs, err)
	}
	return nil, errs[0] // of the best folder
}

// reachable returns an address by which this host reaches the listener on addr.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

// write writes the file of an entry, locks it, and then gives it its name.
func write(dir string, l Entry) (func(), error) {
	self := rendezvous.Self("")
	text, err := json.Marshal(entryFile{l.Command, l.Address, l.Token.Reveal(), l.PID, self.HostID, self.Host, l.Since.UTC()})
	if err != nil {
		panic("joblist: listing cannot be written as JSON")
	}
	var draw [randomBytes]byte
	rand.Read(draw[:]) // never fails
	name := fmt.Sprintf("%d-%s%s", l.PID, hex.EncodeToString(draw[:]), entrySuffix)
	fresh, path := filepath.Join(dir, unlockedPrefix+name), filepath.Join(dir, name)
	f, err := os.OpenFile(fresh, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, exitcode.With(exitcode.CannotCreate, err)
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		os.Remove(fresh)
		f.Close()
		return nil, exitcode.With(exitcode.CannotCreate, fmt.Errorf("%s: %w", fresh, err))
	}
	return func() {
		os.Remove(path)
		f.Close()
	}, nil
}

// Read returns the entries of this user's processes on this host, oldest first in each
// folder. It also returns the faults of folders and files, which it skips. It removes the
// files of dead processes.
func Read(getenv func(string) string) ([]Entry, []error) {
	var (
		all  []Entry
		errs []error
	)
	for _, dir := range folders(getenv) {
		err := checkFolder(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list, faults := readFolder(dir)
		all, errs = append(all, list...), append(errs, faults...)
	}
	return all, errs
}

// errDead reports a file without a lock of this host.
var errDead = errors.New("its process is dead")

// decidesFor reports whether self may decide that the process of an unlocked file is dead:
// the file is of this kernel, or of this host before it was restarted. Locks of other hosts
// need not be visible here.
func (f *entryFile) decidesFor(self ring.Worker) bool {
	boot, _, _ := strings.Cut(f.HostID, "/")
	own, _, _ := strings.Cut(self.HostID, "/")
	return boot == own || f.Host != "" && f.Host == self.Host
}

// readFolder reads the files of dir and removes those of dead processes.
func readFolder(dir string) ([]Entry, []error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, []error{err}
	}
	var (
		all  []Entry
		errs []error
		self = rendezvous.Self("")
	)
	for _, e := range entries[:min(len(entries), maxEntries)] {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), unlockedPrefix) {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > unlockedTimeout {
				os.Remove(path)
			}
			continue
		}
		if !strings.HasSuffix(e.Name(), entrySuffix) {
			continue
		}
		l, raw, err := readEntry(path)
		switch {
		case err == errDead:
			if raw.decidesFor(self) {
				os.Remove(path)
			}
		case errors.Is(err, fs.ErrNotExist): // the process has just ended
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		case raw.HostID == self.HostID:
			all = append(all, l)
		}
	}
	return all, errs
}

// readEntry reads the file of a living process. It refuses a file that another user could
// have written.
func readEntry(path string) (l Entry, raw entryFile, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return l, raw, errors.New("a symbolic link, want a file")
	}
	if err != nil {
		return l, raw, errors.Unwrap(err) // without the path
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return l, raw, err
	}
	stat, _ := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return l, raw, errors.New("no regular file")
	case stat == nil || int(stat.Uid) != os.Geteuid():
		return l, raw, errors.New("belongs to another user")
	case info.Mode().Perm()&0o077 != 0:
		return l, raw, fmt.Errorf("has mode %#o, want 0600", info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxEntryBytes+1))
	if err == nil {
		l, raw, err = parseEntry(text)
	}
	if err != nil {
		return l, raw, err
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); {
	case err == nil:
		return l, raw, errDead
	case !errors.Is(err, syscall.EWOULDBLOCK):
		return l, raw, fmt.Errorf("lock: %w", err)
	}
	return l, raw, nil
}

// parseEntry parses the text of a file.
func parseEntry(text []byte) (l Entry, raw entryFile, err error) {
	if len(text) > maxEntryBytes || json.Unmarshal(text, &raw) != nil {
		return l, raw, errors.New("is no listing of a job")
	}
	if _, _, err := net.SplitHostPort(raw.Address); err != nil {
		return l, raw, errors.New("is no listing of a job: the address is not HOST:PORT")
	}
	l = Entry{Command: raw.Command, Address: raw.Address, PID: raw.PID, Since: raw.Since}
	if raw.Token != "" {
		if l.Token, err = token.Parse(raw.Token); err != nil {
			return l, raw, errors.New("is no listing of a job: the token is none")
		}
	}
	return l, raw, nil
}
