package etcd

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
)

// server is a real etcd process.
type server struct {
	testing.TB
	client, peer, dir string
	cmd               *exec.Cmd
}

func newServer(t testing.TB) *server {
	t.Helper()
	if _, err := exec.LookPath("etcd"); err != nil || os.Getenv("INTEROP") == "" {
		t.Skip("set INTEROP=1 and install etcd (Debian's etcd-server) to test against it, as make interop does")
	}
	s := &server{TB: t, client: freeAddr(t), peer: freeAddr(t), dir: t.TempDir()}
	t.Cleanup(s.kill)
	s.start()
	return s
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *server) start() {
	s.Helper()
	s.cmd = exec.Command("etcd", "--name", "e1", "--data-dir", s.dir, "--listen-client-urls", "http://"+s.client,
		"--advertise-client-urls", "http://"+s.client, "--listen-peer-urls", "http://"+s.peer, "--initial-advertise-peer-urls", "http://"+s.peer,
		"--initial-cluster", "e1=http://"+s.peer, "--logger", "zap", "--log-level", "error")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.Fatal(err)
	}
}

// kill kills etcd with SIGKILL and waits for its end.
func (s *server) kill() {
	if s.cmd.ProcessState == nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	}
}

// worker returns the cluster as seen by a worker.
func (s *server) worker() *Cluster { return s.workerOf("j") }

// workerOf returns the cluster as seen by a worker of another job.
func (s *server) workerOf(jobID string) *Cluster {
	s.Helper()
	at := Address{Endpoints: []string{s.client}, Prefix: "test"}
	c, err := Open(Config{Address: at, JobID: jobID, Patience: time.Second})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { c.Close() })
	return c
}

// campaign makes c the coordinator. It waits for etcd, and for the end of another lease.
func (s *server) campaign(c *Cluster, addr string, fresh bool) (journal.Journal, <-chan struct{}) {
	s.Helper()
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); {
		if j, lost, err := c.Campaign(s.Context(), addr, fresh); j != nil {
			s.Cleanup(func() { j.Close() })
			return j, lost
		} else if err == nil {
			<-time.After(retryEvery)
		}
	}
	s.Fatal("etcd does not come")
	return nil, nil
}

func (s *server) append(j journal.Journal, list ...state.Record) {
	s.Helper()
	for _, r := range list {
		if err := j.Append(r); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *server) wantRecords(j journal.Journal, want ...state.Record) {
	s.Helper()
	if diff := cmp.Diff(want, j.Records()); diff != "" {
		s.Errorf("records, -want +got:\n%s", diff)
	}
}

var (
	jobRecord = state.JobRecord{JobID: "j", WorldSize: 1, Spec: state.Request{Protocol: ring.ProtocolVersion, Version: "v", Agree: []string{"a=b"}}}
	firstGen  = state.GenerationRecord{Generation: 1, Workers: []ring.Worker{{Addr: "h:1", Host: "h"}}}
	lossOne   = state.LossRecord{Generation: 1, Lost: []int{0}, Used: 1, Cause: &ring.Cause{Text: "gone", ExitCode: 138}, First: &ring.Cause{Text: "gone", ExitCode: 138}}
)

// TestInteropEtcdFencing verifies that a former coordinator cannot write after a second one has
// taken over, that the former one is told, and that the second one has all records.
func TestInteropEtcdFencing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a, b := s.worker(), s.worker()
	first, lost := s.campaign(a, "127.0.0.1:1", true)
	s.append(first, jobRecord)
	if j, _, err := b.Campaign(t.Context(), "127.0.0.1:2", true); j != nil || err != nil {
		t.Fatalf("a second coordinator beside the first: %v, %v", j, err)
	}
	if addr, err := b.Find(t.Context()); addr != "127.0.0.1:1" || err != nil {
		t.Errorf("the coordinator is at %q, %v", addr, err)
	}
	// The effect of a pause that is longer than the lease.
	if _, err := a.client.Delete(t.Context(), a.keys.coordinator); err != nil {
		t.Fatal(err)
	}
	second, _ := s.campaign(b, "127.0.0.1:2", false)
	s.wantRecords(second, jobRecord)
	if err := first.Append(firstGen); !errors.Is(err, journal.ErrSuperseded) {
		t.Errorf("the first coordinator writes, error %v", err)
	}
	<-lost
	s.append(second, firstGen, lossOne)
	first.Close() // revokes its own lease, not the key of the other
	if addr, err := a.Find(t.Context()); addr != "127.0.0.1:2" || err != nil {
		t.Errorf("the coordinator is at %q, %v", addr, err)
	}
	second.Close()
	third, _ := s.campaign(a, "127.0.0.1:3", false) // at once: the coordinator has resigned
	s.wantRecords(third, jobRecord, firstGen, lossOne)
}

// TestInteropEtcdEnded verifies that a job id can be used again, and that a worker that has missed
// the end learns it.
func TestInteropEtcdEnded(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.worker()
	j, _ := s.campaign(c, "127.0.0.1:1", true)
	s.append(j, jobRecord, firstGen, state.EndRecord{})
	j.Close()
	j, _ = s.campaign(c, "127.0.0.1:1", false)
	s.wantRecords(j, jobRecord, firstGen, state.EndRecord{})
	j.Close()
	j, _ = s.campaign(c, "127.0.0.1:1", true)
	s.wantRecords(j)
	s.append(j, jobRecord)
	j.Close()
	j, _ = s.campaign(c, "127.0.0.1:1", true)
	s.wantRecords(j, jobRecord)
}

// TestInteropEtcdRegister verifies that a keyReader finds the jobs with a coordinator and no
// others, and reads the end of a job from its journal.
func TestInteropEtcdRegister(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	journals := map[string]journal.Journal{}
	for addr, id := range map[string]string{"127.0.0.1:1": "a/b", "127.0.0.1:2": "c", "127.0.0.1:3": "d"} {
		journals[id], _ = s.campaign(s.workerOf(id), addr, true)
		record := jobRecord
		record.JobID = id
		s.append(journals[id], record, firstGen)
	}
	s.append(journals["d"], state.EndRecord{})
	journals["d"].Close()
	for id, want := range map[string][]coordinator{"": {{"a/b", "127.0.0.1:1"}, {"c", "127.0.0.1:2"}}, "c": {{"c", "127.0.0.1:2"}}, "d": nil} {
		r := &keyReader{s.workerOf(id + " onlooker"), id}
		if got, err := r.coordinators(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("of job %q the coordinators are %v, %v, want %v", id, got, err, want)
		}
		for id, want := range map[string]bool{"a/b": false, "d": true, "unknown": false} {
			if got, err := r.jobEnded(t.Context(), id); got != want || err != nil {
				t.Errorf("job %q is over: %v, %v, want %v", id, got, err, want)
			}
		}
	}
}

// TestInteropEtcdRepeated verifies that a coordinator recognizes its own entry if an earlier
// attempt wrote it without an answer.
func TestInteropEtcdRepeated(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.worker()
	j, _ := s.campaign(c, "127.0.0.1:1", true)
	s.append(j, jobRecord)
	j.(*leadership).entries-- // as if the answer was lost
	s.append(j, jobRecord, firstGen)
	j.Close()
	j, _ = s.campaign(c, "127.0.0.1:1", false)
	s.wantRecords(j, jobRecord, firstGen)
}

// TestInteropEtcdAway verifies that a coordinator that cannot write resigns, that the notice names
// etcd, and that no record is lost when etcd is killed and restarted.
func TestInteropEtcdAway(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.worker()
	j, lost := s.campaign(c, "127.0.0.1:1", true)
	s.append(j, jobRecord)
	s.kill()
	if err := j.Append(firstGen); !errors.Is(err, journal.ErrSuperseded) || !strings.Contains(err.Error(), "etcd at "+s.client+": connection refused") {
		t.Errorf("error %v, want ErrSuperseded with etcd named", err)
	}
	<-lost
	j.Close()
	if _, err := c.Find(t.Context()); err == nil || err.Error() != "etcd at "+s.client+": connection refused" {
		t.Errorf("error %v, want etcd named", err)
	}
	s.start()
	for err := errors.New(""); err != nil; { // the lease ends by itself within 8 s
		_, err = c.client.Revoke(t.Context(), j.(*leadership).lease)
	}
	j, _ = s.campaign(c, "127.0.0.1:1", false)
	s.wantRecords(j, jobRecord)
}
