package rendezvous

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// TestRefusalLog verifies that the reason of a refusal is told for the rank's own process and
// its children, and not for strangers.
func TestRefusalLog(t *testing.T) {
	const far = 1 << 30 // no process has this pid
	pid := os.Getpid()
	group, err := syscall.Getpgid(pid)
	if err != nil {
		t.Fatal(err)
	}
	taken := func(pid int) refusal {
		return refusal{pid: pid, onThisHost: true, cause: &ring.Cause{Rank: 2, Text: "rank 2 is taken", ExitCode: exitcode.Retry}}
	}
	secret := refusal{cause: &ring.Cause{Rank: 2, Text: "not the token", ExitCode: exitcode.Auth}}
	elsewhere := func(pid int) refusal { k := taken(pid); k.onThisHost = false; return k }
	tests := []struct {
		name            string
		refused         []refusal
		rank, pid, code int
		want            string
	}{
		{"refused=nobody", nil, 2, far, exitcode.Retry, ""},
		{"refused=the process", []refusal{taken(far)}, 2, far, exitcode.Retry, "rank 2 is taken"},
		{"refused=the process, as another rank", []refusal{taken(far)}, 1, far, exitcode.Retry, "rank 2 is taken"},
		{"refused=what the process has started", []refusal{taken(pid)}, 2, group, exitcode.Retry, "rank 2 is taken"},
		{"refused=the process, on another host", []refusal{elsewhere(far)}, 2, far, exitcode.Retry, "rank 2 is taken"},
		{"refused=that number on another host", []refusal{elsewhere(far)}, 1, far, exitcode.Retry, ""},
		{"refused=a group of that number on another host", []refusal{elsewhere(pid)}, 1, group, exitcode.Retry, ""},
		{"refused=a stranger", []refusal{taken(far + 1)}, 2, far, exitcode.Retry, ""},
		{"refused=a token", []refusal{secret}, 2, far, exitcode.Auth, "not the token"},
		{"refused=a token of another rank", []refusal{secret}, 1, far, exitcode.Auth, ""},
		{"code=another", []refusal{taken(far), secret}, 2, far, exitcode.BadData, ""},
		{"refused=the process, then strangers", []refusal{taken(far), taken(far + 1), taken(far + 2)}, 2, far, exitcode.Retry, "rank 2 is taken"},
		{"refused=the process, long ago", []refusal{taken(far), taken(far + 1), taken(far + 2), taken(far + 3), taken(far + 4)}, 2, far, exitcode.Retry, ""},
		{"refused=the process, then a token again and again", []refusal{taken(far), secret, secret, secret, secret}, 2, far, exitcode.Retry, "rank 2 is taken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRefusalLog(2)
			for _, k := range tt.refused {
				w := ring.Worker{PID: k.pid, Host: "elsewhere.invalid"}
				if k.onThisHost {
					w.Host = r.host
				}
				r.add(w, k.cause)
			}
			if got := r.reasonOf(tt.rank, tt.pid, tt.code); got != tt.want {
				t.Errorf("rank %d, process %d, code %d: %q, want %q", tt.rank, tt.pid, tt.code, got, tt.want)
			}
		})
	}
}

// TestRefusalsPass verifies that an old refusal is not the reason of a later end.
func TestRefusalsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRefusalLog(2)
		r.add(ring.Worker{PID: 7, Host: r.host}, &ring.Cause{Rank: 1, Text: "of another job", ExitCode: exitcode.Retry})
		time.Sleep(refusalExitTimeout)
		if got := r.reasonOf(1, 7, exitcode.Retry); got != "of another job" {
			t.Errorf("told %q of a rank that has ended by its refusal", got)
		}
		time.Sleep(time.Millisecond)
		if got := r.reasonOf(1, 7, exitcode.Retry); got != "" {
			t.Errorf("told %q of one that has ended later", got)
		}
	})
}

// TestStrangersAreTold refuses a worker without the token twice a second for a minute. It
// verifies that there are notices, but not one for each attempt, and that each refusal of a
// worker with the token is reported.
func TestStrangersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told notices
		s := serveInMemory(t, ServerConfig{Notice: told.add})
		for range 120 {
			s.noteRefusal(ring.Worker{Rank: 1}, &ring.Cause{Rank: 1, Text: "not the token", ExitCode: exitcode.Auth})
			time.Sleep(500 * time.Millisecond)
		}
		if n := strings.Count(told.text(), "claims rank 1: not the token"); n < 1 || n > 12 {
			t.Errorf("%d notices of 120 visits within a minute, want 1 to 12", n)
		}
		for pid := range 3 {
			s.noteRefusal(ring.Worker{Rank: 2, PID: 7 + pid}, &ring.Cause{Rank: 2, Text: "rank 2 is taken", ExitCode: exitcode.Retry})
		}
		synctest.Wait()
		if n := strings.Count(told.text(), "rank 2 is taken"); n != 3 {
			t.Errorf("%d notices of 3 workers with the token that were refused", n)
		}
	})
}
