package place

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring/exitcode"
)

// mpiexec plays Hydra: it answers as that does, and keeps what is put.
type mpiexec struct {
	size   int
	answer func(line string) (string, bool) // overrides an answer; may be nil

	mu     sync.Mutex
	space  map[string]string
	inside int
	all    chan struct{} // closed when all ranks are in the barrier
	asked  []string
}

func newMPIExec(size int) *mpiexec {
	return &mpiexec{size: size, space: map[string]string{}, all: make(chan struct{})}
}

// serve answers one rank until it hangs up. Once it did not like a line it says
// no more, as Hydra, which kills the ranks then.
func (m *mpiexec) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	for in.Scan() {
		answer := m.reply(in.Text())
		if answer == "" {
			return
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return
		}
	}
}

func (m *mpiexec) reply(line string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, line)
	if m.answer != nil {
		if answer, ok := m.answer(line); ok {
			return answer
		}
	}
	name, values, _ := parsePMI(line + "\n")
	switch name {
	case "init":
		return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
	case "get_my_kvsname":
		return "cmd=my_kvsname kvsname=kvs_1_0_7_node1\n"
	case "put":
		m.space[values["key"]] = values["value"]
		return "cmd=put_result rc=0 msg=success\n"
	case "get":
		value, ok := m.space[values["key"]]
		if !ok {
			return "cmd=get_result rc=-1 msg=key_" + values["key"] + "_not_found value=unknown\n"
		}
		return "cmd=get_result rc=0 msg=success value=" + value + "\n"
	case "barrier_in":
		if m.inside++; m.inside == m.size {
			close(m.all)
		}
		m.mu.Unlock()
		<-m.all
		m.mu.Lock()
		return "cmd=barrier_out\n"
	case "finalize":
		return "cmd=finalize_ack\n"
	}
	return ""
}

// learn has rank learn its place from m.
func (m *mpiexec) learn(ctx context.Context, p Place, c LearnOptions) (Place, error) {
	mine, theirs := net.Pipe()
	defer mine.Close()
	go m.serve(theirs)
	return p.learn(ctx, mine, c)
}

func pmiPlace(rank, size int) Place {
	return Place{Rank: rank, WorldSize: size, LocalRank: -1, Source: "PMI", PMI: &PMI{FD: 9, Host: fmt.Sprintf("node%d", rank+1)}}
}

const kvsAt = "20268" // the port of kvs_1_0_7_node1

// TestLearn verifies that ranks of mpiexec on several hosts learn one rendezvous.
func TestLearn(t *testing.T) {
	m := newMPIExec(3)
	var places [3]Place
	var wg sync.WaitGroup
	for rank := range places {
		wg.Go(func() {
			var err error
			if places[rank], err = m.learn(t.Context(), pmiPlace(rank, 3), LearnOptions{Notice: func(string) {}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want := Place{WorldSize: 3, LocalRank: -1, Rendezvous: "node1:" + kvsAt, AtRank0: true, Serve: true, Listen: ":" + kvsAt, JobID: "kvs_1_0_7_node1", Source: "PMI"}
	for rank, got := range places {
		if rank > 0 {
			want.Rank, want.Serve, want.Listen = rank, false, ":0"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rank %d: place differs (-want +got):\n%s", rank, diff)
		}
	}
	if last := m.asked[len(m.asked)-1]; last != "cmd=finalize" {
		t.Errorf("the last that mpiexec heard is %q", last) // mpiexec would take the end for a crash
	}
}

// TestLearnOneHost verifies that ranks of mpiexec on one host need no barrier and use the
// loopback.
func TestLearnOneHost(t *testing.T) {
	p := pmiPlace(0, 2)
	p.PMI.OneHost, p.JobID = true, "j"
	m := newMPIExec(2)
	got, err := m.learn(t.Context(), p, LearnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := "127.0.0.1:" + kvsAt
	want := Place{WorldSize: 2, LocalRank: -1, Rendezvous: at, AtRank0: true, Serve: true, Listen: at, JobID: "j", Source: "PMI"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("place differs (-want +got):\n%s", diff)
	}
	for _, line := range m.asked {
		if strings.HasPrefix(line, "cmd=barrier_in") {
			t.Error("mpiexec was asked for a barrier")
		}
	}
}

// TestLearnWaits verifies the notices and the timeout of a rank that waits for one that
// never starts.
func TestLearnWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notices []time.Duration
		since := time.Now()
		c := LearnOptions{Timeout: 25 * time.Second, Notice: func(string) { notices = append(notices, time.Since(since)) }}
		m := newMPIExec(2)
		_, err := m.learn(t.Context(), pmiPlace(0, 2), c)
		if exitcode.Of(err) != exitcode.Retry || !strings.Contains(err.Error(), "not all 2 ranks came to mpiexec's barrier within 25s") {
			t.Errorf("error %v with code %d", err, exitcode.Of(err))
		}
		if took := time.Since(since); took != c.Timeout {
			t.Errorf("gave up after %v", took)
		}
		if diff := cmp.Diff([]time.Duration{2 * time.Second, 12 * time.Second, 22 * time.Second}, notices); diff != "" {
			t.Errorf("notices differ (-want +got):\n%s", diff)
		}
		close(m.all) // mpiexec ends
	})
}

// TestLearnInterrupted verifies that the end of the context ends the wait.
func TestLearnInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		time.AfterFunc(time.Second, func() { cancel(stop) })
		m := newMPIExec(2)
		if _, err := m.learn(ctx, pmiPlace(1, 2), LearnOptions{}); !errors.Is(err, stop) {
			t.Errorf("error %v, want the cause of the end", err)
		}
		close(m.all)
	})
}

// TestLearnRefuses verifies that answers that violate the protocol are errors.
func TestLearnRefuses(t *testing.T) {
	tests := []struct {
		name, to, answer string
		code             int
		want             string
	}{
		{"mpiexec=gone", "init", "", exitcode.Retry, "mpiexec is gone"},
		{"init=refused", "init", "cmd=response_to_init rc=-1\n", exitcode.Protocol, "cmd=response_to_init rc=-1"},
		{"init=other", "init", "cmd=maxes\n", exitcode.Protocol, "want cmd=response_to_init"},
		{"init=not PMI", "init", "SSH-2.0-OpenSSH_9.2\n", exitcode.Protocol, "want a line"},
		{"init=endless", "init", strings.Repeat("x", 2*maxPMILine), exitcode.Protocol, "want a line of at most 4096 bytes"},
		{"name=none", "get_my_kvsname", "cmd=my_kvsname\n", exitcode.Protocol, "kvsname has 0 bytes"},
		{"name=long", "get_my_kvsname", "cmd=my_kvsname kvsname=" + strings.Repeat("x", 300) + "\n", exitcode.Protocol, "kvsname has 300 bytes"},
		{"put=refused", "put", "cmd=put_result rc=-1 msg=full\n", exitcode.Protocol, "rc=-1 msg=full"},
		{"get=not there", "get", "cmd=get_result rc=-1 msg=no value=unknown\n", exitcode.Protocol, "rc=-1 msg=no"},
		{"get=no address", "get", "cmd=get_result rc=0 value=node1\n", exitcode.Protocol, `rank 0's rendezvous is "node1", want HOST:PORT`},
		{"finalize=other", "finalize", "cmd=barrier_out\n", exitcode.Protocol, "want cmd=finalize_ack"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMPIExec(1)
			m.answer = func(line string) (string, bool) {
				name, _, _ := parsePMI(line + "\n")
				return tt.answer, name == tt.to
			}
			_, err := m.learn(t.Context(), pmiPlace(0, 2), LearnOptions{})
			if exitcode.Of(err) != tt.code || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v with code %d, want %q with %d", err, exitcode.Of(err), tt.want, tt.code)
			}
		})
	}
}

// TestLearnSocket verifies that PMI_FD must be a socket.
func TestLearnSocket(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, fd := range []int{int(f.Fd()), 1 << 20} {
		p := pmiPlace(0, 2)
		p.PMI.FD = fd
		if _, err := p.Learn(t.Context(), LearnOptions{}); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), fmt.Sprintf("PMI_FD is %d", fd)) {
			t.Errorf("descriptor %d: error %v", fd, err)
		}
	}
	if _, err := f.Stat(); err != nil {
		t.Errorf("the file was closed: %v", err)
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	other := os.NewFile(uintptr(pair[1]), "mpiexec")
	theirs, err := net.FileConn(other)
	other.Close()
	if err != nil {
		t.Fatal(err)
	}
	go newMPIExec(1).serve(theirs)
	p := pmiPlace(0, 2)
	p.PMI.FD, p.PMI.OneHost = pair[0], true
	if p, err = p.Learn(t.Context(), LearnOptions{}); err != nil || p.Rendezvous != "127.0.0.1:"+kvsAt {
		t.Errorf("learned %+v, error %v", p, err)
	}
}

// TestOwnHost verifies the name that rank 0 tells other hosts: never the loopback.
func TestOwnHost(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	tests := []struct {
		pmi  PMI
		want string
	}{
		{PMI{Host: "node1"}, "node1"},
		{PMI{Host: "fd77::1"}, "fd77::1"},
		{PMI{Host: "node1", Listen: "10.0.0.7"}, "10.0.0.7"},
		{PMI{Host: "node1", Listen: "10.0.0.7:7000-7100"}, "10.0.0.7"},
		{PMI{Host: "node1", Listen: ":7000"}, "node1"},
		{PMI{Host: "node1", Listen: "0.0.0.0"}, "node1"},
		{PMI{Host: "node1", Listen: "127.0.0.1"}, "node1"},
		{PMI{Host: "localhost"}, name},
		{PMI{Host: "127.0.0.1"}, name},
		{PMI{}, name},
	}
	for _, tt := range tests {
		if got, err := tt.pmi.ownHost(); got != tt.want || err != nil {
			t.Errorf("%+v: host %q, error %v, want %q", tt.pmi, got, err, tt.want)
		}
	}
}
