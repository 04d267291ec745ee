package checkpoint

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/export/bundle"
	"ringtrain/ring/exitcode"
)

// hold writes the lease of another job, with an age, into a new folder.
func hold(t *testing.T, l lease, age time.Duration) (dir, name string) {
	t.Helper()
	dir = t.TempDir()
	l.Schema, l.Job, l.Attempt, l.Host, l.Time = leaseSchema, "first", 4, "elsewhere", time.Now().UTC()
	name = filepath.Join(dir, leaseName(4))
	if err := os.WriteFile(name, l.encode(), 0o666); err != nil {
		t.Fatal(err)
	}
	makeOld(t, name, age)
	return dir, name
}

func makeOld(t *testing.T, name string, age time.Duration) {
	t.Helper()
	then := time.Now().Add(-age)
	if err := os.Chtimes(name, then, then); err != nil {
		t.Fatal(err)
	}
}

// deadProcess returns a process of this machine that has ended.
func deadProcess(t *testing.T) process {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return process{Machine: thisProcess().Machine, PID: cmd.Process.Pid, Started: "1"}
}

// TestClaim verifies which jobs may take over a folder, and that the error for the
// others names the holder.
func TestClaim(t *testing.T) {
	foreign := process{Machine: "another", PID: 7}
	for _, tt := range []struct {
		name  string
		job   string
		lease lease
		age   time.Duration
		words string // of the error; "" for a claim that succeeds
	}{
		{"job=same", "first", lease{process: thisProcess()}, 0, ""},
		{"job=other", "second", lease{process: thisProcess()}, 0, "in use by job first (pid "},
		{"holder=ended", "second", lease{process: thisProcess(), Ended: true}, 0, ""},
		{"holder=dead", "second", lease{process: deadProcess(t)}, 0, ""},
		{"holder=stopped", "second", lease{process: thisProcess()}, 31 * time.Second, ""},
		{"holder=stopped,but not for long", "second", lease{process: thisProcess()}, 25 * time.Second, "in use by job first (pid "},
		{"holder=elsewhere,old", "second", lease{process: foreign}, 31 * time.Second, ""},
		{"holder=elsewhere,of a wrong clock", "second", lease{process: foreign}, -time.Hour, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && strings.HasPrefix(tt.name, "holder=dead") {
				t.Skip("processes are known on Linux")
			}
			dir, name := hold(t, tt.lease, tt.age)
			f, err := Claim(context.Background(), quiet(bundle.OS), dir, tt.job, nil)
			if tt.words != "" {
				if exitcode.Of(err) != exitcode.Retry || !strings.Contains(err.Error(), tt.words) || !strings.Contains(err.Error(), "on host elsewhere") {
					t.Errorf("error %v (%d), want %d with %q", err, exitcode.Of(err), exitcode.Retry, tt.words)
				}
				if _, err := os.Stat(name); err != nil {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if l, ok := readLease(dir, 5); !ok || l.Job != tt.job || l.PID != os.Getpid() {
				t.Errorf("the record is %+v, want attempt 5 of this process", l)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if l, _ := readLease(dir, 5); !l.Ended {
				t.Error("the folder is held after Close")
			}
		})
	}
}

// TestClaimWaits verifies the outcomes of waiting for a fresh lease of another host:
// refused if the lease is renewed, a takeover if it expires, the cause if the context
// ends. The clock is fake; file times are real.
func TestClaimWaits(t *testing.T) {
	gone := errors.New("the generation has ended")
	for _, then := range []string{"renewed", "old", "cancelled"} {
		t.Run("then="+then, func(t *testing.T) {
			l := lease{process: process{Machine: "another", PID: 7}}
			dir, name := hold(t, l, 10*time.Second)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				var told []string
				_, err := Claim(ctx, quiet(bundle.OS), dir, "second", func(line string) {
					told = append(told, line)
					switch then {
					case "renewed":
						next, _ := readLease(dir, 4)
						next.Time = next.Time.Add(renewInterval)
						if err := os.WriteFile(name, next.encode(), 0o666); err != nil {
							t.Error(err)
						}
					case "old":
						makeOld(t, name, 31*time.Second)
					case "cancelled":
						cancel(gone)
					}
				})
				cancel(nil)
				if len(told) != 1 || !strings.Contains(told[0], "in use by job first (pid 7 on host elsewhere, attempt 4)") {
					t.Errorf("told %q, want the holder, once", told)
				}
				switch {
				case then == "old" && err != nil, then == "cancelled" && err != gone,
					then == "renewed" && exitcode.Of(err) != exitcode.Retry:
					t.Errorf("error %v (%d)", err, exitcode.Of(err))
				}
			})
		})
	}
}

// TestHolder verifies that the folder of a living job is held by it, and that of one that has ended, has
// died on this machine or was silent for too long is not.
func TestHolder(t *testing.T) {
	dir := t.TempDir()
	if job, holds := Holder(dir); job != "" || holds {
		t.Errorf("an empty folder is held by %q: %v", job, holds)
	}
	f := claim(t, bundle.OS, dir)
	if job, holds := Holder(dir); job != "job" || !holds {
		t.Errorf("a claimed folder is held by %q: %v, want job", job, holds)
	}
	if _, err := f.Save(state(1), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if job, holds := Holder(dir); job != "job" || holds {
		t.Errorf("a released folder is held by %q: %v, want job, which no longer holds it", job, holds)
	}
	for name, tt := range map[string]struct {
		process
		age   time.Duration
		holds bool
	}{"elsewhere": {process{Machine: "another", PID: 7}, time.Second, true}, "silent": {process{Machine: "another", PID: 7}, time.Minute, false}, "dead": {deadProcess(t), time.Second, false}} {
		dir, _ := hold(t, lease{process: tt.process}, tt.age)
		if job, holds := Holder(dir); job != "first" || holds != tt.holds {
			t.Errorf("%s: held by %q: %v, want first: %v", name, job, holds, tt.holds)
		}
	}
}

// TestRenewed verifies that a living holder renews its lease, notices the loss of the
// folder, and then leaves the successor's lease unchanged.
func TestRenewed(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a, err := Claim(t.Context(), quiet(bundle.OS), dir, "job", nil)
		if err != nil {
			t.Fatal(err)
		}
		a.Keep()
		first, _ := readLease(dir, 1)
		time.Sleep(renewInterval + time.Second)
		synctest.Wait()
		if l, ok := readLease(dir, 1); !ok || l.Time.Sub(first.Time) != renewInterval {
			t.Errorf("after %v the record is of %v, want %v later than %v", renewInterval, l.Time, renewInterval, first.Time)
		}
		b, err := Claim(t.Context(), quiet(bundle.OS), dir, "job", nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.LeaseError() != nil {
			t.Error("LeaseError reports the loss before the first check")
		}
		time.Sleep(renewInterval)
		synctest.Wait()
		if err := a.LeaseError(); exitcode.Of(err) != exitcode.Retry || !strings.Contains(err.Error(), "attempt 2) has taken over") {
			t.Errorf("after %v the loss is %v, want %d and by whom", renewInterval, err, exitcode.Retry)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if l, ok := readLease(dir, 2); !ok || l.Ended {
			t.Errorf("the successor's record is %+v, want one that holds", l)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAttemptsRise verifies that an attempt is higher than all before, even if the
// leases are missing.
func TestAttemptsRise(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		save(t, dir, state(1), 0)
	}
	if err := os.Remove(filepath.Join(dir, leaseName(3))); err != nil {
		t.Fatal(err)
	}
	save(t, dir, state(2), 0)
	attempt, err := readAttempt(filepath.Join(dir, "step-000002"))
	if err != nil || attempt < 2 {
		t.Errorf("attempt %d, %v, want one above that of step 1", attempt, err)
	}
	wantLoad(t, dir, state(2))
}

// TestUnused verifies that a claim without a Save removes its files, and that an attempt
// after others keeps the count.
func TestUnused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ckpt")
	f := claim(t, bundle.OS, dir)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	save(t, dir, state(1), 0)
	f = claim(t, bundle.OS, dir)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if l, ok := readLease(dir, 2); !ok || !l.Ended {
		t.Errorf("the record is %+v, want attempt 2, ended", l)
	}
}

// TestDamagedLease verifies that no lease record makes Claim hang or fail without a
// reason.
func TestDamagedLease(t *testing.T) {
	for name, text := range map[string]string{
		"lease-000003":                "",
		"lease-000004":                "{",
		"lease-000005":                `{"schema":99}`,
		"lease-4611686018427387904":   "",
		"lease-9223372036854775807":   "",
		"lease-99999999999999999999":  "",
		"lease-000002.tmp-x-99999999": "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			makeOld(t, filepath.Join(dir, name), time.Hour)
			f, err := Claim(t.Context(), quiet(bundle.OS), dir, "job", nil)
			if (err != nil) != (len(name) == len("lease-4611686018427387904")) || err != nil && exitcode.Of(err) != exitcode.BadData {
				t.Errorf("error %v (%d)", err, exitcode.Of(err))
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil && exitcode.Of(err) != exitcode.BadData {
				t.Error(err)
			}
		})
	}
}
