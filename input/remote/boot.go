package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A copy does not wait for the disk, which takes a fifth of the rate. After a power failure its file may have the right size
// and zeros inside. So the folder of a copy has a mark: the boot of the machine that made it, or durable.
const (
	markFile  = "boot"
	durable   = "durable" // in the mark: the disk has the bytes
	settleAge = time.Minute
)

// bootID names the running boot of this machine, "" if the system does not tell.
func bootID() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
}

func (s *Store) mark(o *object) string { return filepath.Join(s.path(o.entry()), markFile) }

// isDurable reports whether the disk has the copy of o.
func (s *Store) isDurable(o *object) bool {
	text, _ := os.ReadFile(s.mark(o))
	return o.size == 0 || string(text) == durable
}

// isSound reports whether the copy of o has its bytes: the disk has them, or this boot has made it.
func (s *Store) isSound(o *object) bool {
	text, _ := os.ReadFile(s.mark(o))
	return s.boot != "" && string(text) == s.boot || s.isDurable(o)
}

// settle makes copies durable when the last one is a minute old. The system has written them by then, and the disk has little
// left to do. A process that ends before leaves them to the next one.
func (s *Store) settle(all []*object) {
	var fresh []*object
	var last time.Time
	for _, o := range all {
		if info, err := os.Stat(s.mark(o)); err == nil && !o.settles && !s.isDurable(o) {
			o.settles, fresh = true, append(fresh, o)
			if info.ModTime().After(last) {
				last = info.ModTime()
			}
		}
	}
	if len(fresh) == 0 {
		return
	}
	time.AfterFunc(time.Until(last.Add(settleAge)), func() {
		for _, o := range fresh {
			if err := s.sync(o); err != nil {
				s.Notice(fmt.Sprintf("warning: the copy of %s may not be on the disk, and is made anew after a restart of the machine: %v", o.url, err))
			}
		}
	})
}

// sync waits until the disk has the copy of o, and marks it.
func (s *Store) sync(o *object) error {
	if s.isDurable(o) { // another process has done it
		return nil
	}
	file, err := os.Open(filepath.Join(s.path(o.entry()), o.path))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return err
	}
	return os.WriteFile(s.mark(o), []byte(durable), 0o666)
}
