package token

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
)

const (
	unlockedPrefix  = ".new-"       // of a file without a lock yet
	unlockedTimeout = 1 * time.Hour // a file that is older and has no lock yet is of a dead process
	renewInterval   = 1 * time.Hour // folders for temporary files are cleaned by age, of some days
	maxHeldBytes    = 16 << 10
	maxHeld         = 4096 // files of a folder that are read
	randomBytes     = 8    // make the names of the files of one process differ
)

// HeldFile is a file of the runtime folder that this process holds by a lock. It goes with
// the process: after a kill the next process that holds a file removes it.
type HeldFile struct {
	Path string

	file  *os.File // has the lock
	renew *time.Timer
}

// Hold writes text to a new file of the runtime folder with mode 0600 and a suffix, and
// holds the file until Close.
func Hold(suffix string, text []byte) (*HeldFile, error) {
	dir, err := Folder()
	if err != nil {
		return nil, err
	}
	return hold(dir, suffix, text)
}

func hold(dir, suffix string, text []byte) (*HeldFile, error) {
	readHeld(dir, "") // removes the files of dead processes
	name := fmt.Sprintf("%d-%s%s", os.Getpid(), drawName(), suffix)
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
	return &HeldFile{path, f, renew(path)}, nil
}

// drawName returns the random part of a file's name.
func drawName() string {
	var draw [randomBytes]byte
	rand.Read(draw[:]) // never fails
	return hex.EncodeToString(draw[:])
}

// Close removes the file, if there is one.
func (h *HeldFile) Close() error {
	if h == nil || h.file == nil {
		return nil
	}
	h.renew.Stop()
	return errors.Join(os.Remove(h.Path), h.file.Close())
}

// renew renews the time of a file each hour, until the timer is stopped.
func renew(path string) *time.Timer {
	var timer *time.Timer
	timer = time.AfterFunc(math.MaxInt64, func() {
		now := time.Now()
		os.Chtimes(path, now, now)
		timer.Reset(renewInterval)
	})
	timer.Reset(renewInterval)
	return timer
}

// HeldText is the content of a file that a living process of this user holds.
type HeldText struct {
	Path string
	Text []byte // at most 16 KiB
}

// ReadHeld reads the files with a suffix that living processes of this user hold, in order
// of their names. It also returns the faults of files, which it skips. It removes the files
// of dead processes.
func ReadHeld(suffix string) ([]HeldText, []error) {
	dir, err := Folder()
	if err != nil {
		return nil, []error{err}
	}
	return readHeld(dir, suffix)
}

func readHeld(dir, suffix string) ([]HeldText, []error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, []error{err}
	}
	var (
		all  []HeldText
		errs []error
	)
	for _, e := range entries[:min(len(entries), maxHeld)] {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), unlockedPrefix) {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > unlockedTimeout {
				os.Remove(path)
			}
			continue
		}
		if held, _ := filepath.Match("[0-9]*-*"+suffix, e.Name()); !held {
			continue
		}
		text, err := readLiving(path)
		switch {
		case err == errDead:
			os.Remove(path)
		case errors.Is(err, fs.ErrNotExist): // the process has just ended
		case err != nil:
			errs = append(errs, err)
		default:
			all = append(all, HeldText{path, text})
		}
	}
	return all, errs
}

// errDead reports a file without a lock.
var errDead = errors.New("its process is dead")

// readLiving reads the file of a living process. Only this user can have written it, for
// the folder is the user's.
func readLiving(path string) ([]byte, error) {
	f, _, err := openRegular(path, syscall.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); {
	case err == nil:
		return nil, errDead
	case !errors.Is(err, syscall.EWOULDBLOCK):
		return nil, fmt.Errorf("%s: lock: %w", path, err)
	}
	return io.ReadAll(io.LimitReader(f, maxHeldBytes))
}
