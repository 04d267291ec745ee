package joblist

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ringtrain/ring/rendezvous"
)

// TestListingsOfOtherHosts verifies that the listing of another host, whose lock this one need not see on a disk that both
// share, is neither taken for a dead process' and removed, nor for one of this host; and that those of this kernel, also
// of another network namespace, and of this host before it was started anew are swept.
func TestListingsOfOtherHosts(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	self := rendezvous.Self("")
	boot := self.HostID[:len(self.HostID)-len(filepath.Base(self.HostID))]
	for _, tt := range []struct {
		name, hostID, host string
		stays              bool
	}{
		{"other host", "other-boot/1", "other-" + self.Host, true},
		{"other host, file without its name", "other-boot/1", "", true},
		{"this host", self.HostID, self.Host, false},
		{"other namespace", boot + "other", "container", false},
		{"before a reboot", "earlier-boot/1", self.Host, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := json.Marshal(entryFile{Command: "run", Address: "127.0.0.1:1", PID: 1, HostID: tt.hostID, Host: tt.host, Since: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "1-00"+entrySuffix)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if list, errs := readFolder(dir); len(list) != 0 || len(errs) != 0 {
				t.Errorf("listed are %v, and %v is wrong, want nothing", list, errs)
			}
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) == tt.stays {
				t.Errorf("the file is there: %v, want %v", err == nil, tt.stays)
			}
			os.Remove(path)
		})
	}
}
