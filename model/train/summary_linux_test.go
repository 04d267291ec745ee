package train

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// TestSummaryWarning verifies that an event file that cannot be written gives one warning, and that
// training ends with the same result.
func TestSummaryWarning(t *testing.T) {
	whole := mustTrain(t, 2, loadText(t, digitsText), digitsData(), nil)[0]
	job := loadText(t, digitsText, "summary.dir="+t.TempDir())
	m := mustTrain(t, 2, job, digitsData(), func(m *member) {
		inPhase(m, 3, "train", func() {
			fillDisk(t, job.Summary.Dir)
		})
	})[0]
	warnings := eventsOf[report.Warning](m)
	if len(warnings) != 1 || warnings[0].Operation != "summary" || warnings[0].ExitCode != exitcode.IO || !strings.Contains(warnings[0].Cause, "no space left on device") {
		t.Errorf("warnings %+v, want one of the summary", warnings)
	}
	if m.result.Digest != whole.result.Digest {
		t.Errorf("digest %s, want %s as without curves", m.result.Digest, whole.result.Digest)
	}
	if last := m.events[len(m.events)-1]; last.Kind() != "done" {
		t.Errorf("last event is %s, want done", last.Kind())
	}
}

// fillDisk makes writes to the open files in dir fail as on a full disk.
func fillDisk(t *testing.T, dir string) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range open {
		if path, _ := os.Readlink(filepath.Join("/proc/self/fd", f.Name())); !strings.HasPrefix(path, dir+"/") {
			continue
		}
		fd, err := strconv.Atoi(f.Name())
		if err == nil {
			err = unix.Dup3(int(full.Fd()), fd, unix.O_CLOEXEC)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
