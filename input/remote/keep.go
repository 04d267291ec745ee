package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/input/internal/hostlock"
	"ringtrain/ring/exitcode"
)

// freeBytes returns how many bytes this user may still write to the disk of a folder.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

const (
	draftMark = ".draft-" // in the name of a copy that is being made
	useMark   = "use-"    // begins the name of a file of entries that a process uses
)

// entry is a copy in the folder of copies.
type entry struct {
	name  string // without the mark of a draft
	file  string // its name in the folder
	url   string // the sum of its URL
	bytes int64
	draft bool
	used  time.Time
}

// entryOf reads the name of an entry.
func entryOf(file string) (e entry, ok bool) {
	name, _, draft := strings.Cut(file, draftMark)
	parts := strings.Split(name, "-")
	if len(parts) < 3 || len(parts[0]) != 16 || len(parts[1]) != 16 {
		return e, false
	}
	size, err := strconv.ParseInt(strings.Join(parts[2:], "-"), 10, 64)
	return entry{name: name, file: file, url: parts[0], bytes: max(size, 0), draft: draft}, err == nil
}

// entries returns the copies of a folder, those used longest ago first, and which of them living processes use.
func entries(dir string) (all []entry, used map[string]bool, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	used = map[string]bool{}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), useMark) {
			readUse(filepath.Join(dir, f.Name()), used)
			continue
		}
		e, ok := entryOf(f.Name())
		if info, err := f.Info(); ok && err == nil {
			e.used = info.ModTime()
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.file, b.file)) })
	return all, used, nil
}

// readUse adds the entries that a process uses, and removes the file of a process that has ended.
func readUse(name string, used map[string]bool) {
	if l, err := hostlock.Try(name); err != nil || l != nil {
		if l != nil {
			l.Remove()
		}
		return
	}
	text, _ := os.ReadFile(name) // it is gone: its process has ended
	for line := range strings.Lines(string(text)) {
		used[strings.TrimSuffix(line, "\n")] = true
	}
}

// useFile has the names of the entries that this process uses. The system unlocks it when the process ends.
type useFile struct {
	fd    int // of the locked file; an os.File would be closed when nobody refers to the Store any more
	names map[string]bool
}

// newUse makes the file of a process.
func newUse(name string) (*useFile, error) {
	l, err := hostlock.Try(name)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	fd, err := unix.FcntlInt(l.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	return &useFile{fd, map[string]bool{}}, nil
}

// add adds an entry that is used.
func (u *useFile) add(name string) error {
	u.names[name] = true
	n, err := unix.Write(u.fd, []byte(name+"\n"))
	if err == nil && n <= len(name) {
		err = io.ErrShortWrite
	}
	return err
}

// keep keeps the copies of objects, there or not, from being dropped as long as this process lives, and makes room for those
// that are not there.
func (s *Store) keep(ctx context.Context, all []*object) error {
	l, err := s.lock(ctx, "keep")
	if err != nil {
		return err
	}
	defer l.Remove()
	there, used, err := entries(s.Dir)
	if err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
	}
	measure(all, there)
	there, err = s.sweep(all, there, used)
	if err != nil {
		return err
	}
	if err := s.room(all, there, used); err != nil {
		return err
	}
	if s.used == nil {
		s.used, err = newUse(s.path(fmt.Sprintf("%s%016x", useMark, rand.Uint64())))
		if err != nil {
			return exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
		}
	}
	now := time.Now()
	for _, o := range all {
		if name := o.entry(); !s.used.names[name] {
			if err := s.used.add(name); err != nil {
				return exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
			}
		}
		if s.has(o) {
			os.Chtimes(s.path(o.entry()), now, now) // else it counts as older
		}
	}
	return nil
}

// measure gives objects of which the server does not tell the size that of their copies.
func measure(all []*object, there []entry) {
	for _, o := range all {
		if o.size >= 0 {
			continue
		}
		if i := slices.IndexFunc(there, func(e entry) bool { return !e.draft && strings.HasPrefix(e.name, o.prefix()+"-") }); i >= 0 {
			o.size = there[i].bytes
		}
	}
}

// sweep removes drafts of processes that have ended, and copies of objects that a boot before this one may have lost, but none
// that a living process uses. It returns the entries that are left.
func (s *Store) sweep(all []*object, there []entry, used map[string]bool) (left []entry, err error) {
	lost := map[string]bool{}
	for _, o := range all {
		if name := o.entry(); !used[name] {
			lost[name] = !s.isSound(o)
		}
	}
	for _, e := range there {
		if used[e.name] || !e.draft && !lost[e.name] {
			left = append(left, e)
			continue
		}
		if err := os.RemoveAll(s.path(e.file)); err != nil && !e.draft {
			return nil, exitcode.With(exitcode.IO, fmt.Errorf("input.cache: a copy of an earlier start of this machine may have lost bytes: %w", err))
		} else if err != nil {
			s.Notice(s.stays(e, err))
			left = append(left, e)
		}
	}
	return left, nil
}

// stays tells that an entry cannot be removed.
func (s *Store) stays(e entry, err error) string {
	return fmt.Sprintf("warning: cannot remove %s, which stays: %v", s.path(e.file), err)
}

// room drops copies until those of objects that are not there fit.
func (s *Store) room(all []*object, there []entry, used map[string]bool) error {
	names, mine, need := s.sizes(all)
	held := heldBytes(there, used, names)
	free, err := freeBytes(s.Dir)
	if err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
	}
	most, why := s.Bytes, "as the job says"
	if most == 0 {
		most, why = (free+held)/2, "half of the free disk"
	}
	if mine > most {
		return errFull("%s: %s, and copies may take %s, %s; raise the key, or name fewer files", about(all), bytesOf(mine), bytesOf(most), why)
	}
	for _, e := range there {
		if e.draft || used[e.name] || names[e.name] || need <= most-held && need <= free {
			continue
		}
		if err := os.RemoveAll(s.path(e.file)); err != nil {
			s.Notice(s.stays(e, err))
			continue
		}
		held, free = held-e.bytes, free+e.bytes
	}
	switch {
	case need == 0:
	case need > most-held:
		return errFull("%s: %s to copy, of %s that copies may take, %s, jobs that run use %s", about(all), bytesOf(need), bytesOf(most), why, bytesOf(held))
	case need > free:
		return errFull("%s: %s to copy, and the disk of %s has %s free", about(all), bytesOf(need), s.Dir, bytesOf(free))
	}
	return nil
}

// sizes returns the names of the copies of objects, their bytes, and the bytes of those that are not there.
func (s *Store) sizes(all []*object) (names map[string]bool, mine, need int64) {
	names = map[string]bool{}
	for _, o := range all {
		if name := o.entry(); !names[name] {
			names[name] = true
			bytes := min(max(o.size, 0), math.MaxInt64-mine) // a server may tell any size
			mine += bytes
			if !s.has(o) {
				need += bytes
			}
		}
	}
	return names, mine, need
}

// heldBytes returns the bytes of the entries that are there, and of those that other processes copy now.
func heldBytes(there []entry, used, mine map[string]bool) (held int64) {
	planned := maps.Clone(used)
	for _, e := range there {
		held += e.bytes
		delete(planned, e.name)
	}
	for name := range planned {
		if e, ok := entryOf(name); ok && !mine[name] {
			held += e.bytes
		}
	}
	return held
}

// patience is the interval at which a process looks whether another one has let a lock go.
const patience = 200 * time.Millisecond

// lock takes a lock of the folder, for which it may wait.
func (s *Store) lock(ctx context.Context, name string) (*hostlock.Lock, error) {
	for {
		l, err := hostlock.Try(s.path(name + ".lock"))
		if err != nil {
			return nil, fmt.Errorf("input.cache: %w", err)
		}
		if l != nil {
			return l, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(patience):
		}
	}
}

// Prune removes what killed processes have left, and copies of objects of which there is a newer copy. It passes over those
// that a living process uses. told receives a line for each copy.
func Prune(dir string, told, notice func(string)) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s := New(Config{Dir: dir, Notice: notice})
	l, err := s.lock(context.Background(), "keep")
	if err != nil {
		return err
	}
	defer l.Remove()
	all, used, err := entries(dir)
	if err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
	}
	newer := map[string]bool{}
	for _, e := range slices.Backward(all) {
		if old := newer[e.url]; !used[e.name] && (e.draft || old) {
			if old && !e.draft {
				told(fmt.Sprintf("%s is removed: a newer copy is there", s.path(e.file)))
			}
			if err := os.RemoveAll(s.path(e.file)); err != nil {
				notice(s.stays(e, err))
			}
			continue
		}
		newer[e.url] = newer[e.url] || !e.draft
	}
	return nil
}
