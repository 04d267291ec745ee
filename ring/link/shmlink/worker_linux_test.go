package shmlink

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// workerVariable makes the test binary a worker. Its value is an assignment.
const workerVariable = "SHMLINK_TEST_WORKER"

// assignment tells a worker process its rank and its work.
type assignment struct {
	Job         string
	Token       string
	Local, Size int
	Work        string // "sum" or "loop"
}

// workerMain is the main function of a worker. It writes a line for each event to standard
// output.
func workerMain(s string) int {
	var a assignment
	if err := json.Unmarshal([]byte(s), &a); err != nil {
		fmt.Println("assignment:", err)
		return 1
	}
	secret, err := token.Parse(a.Token)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	own, err := port.Listen("127.0.0.1:0", secret)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer own.Close()
	mem, err := Open(ctx, memberships(a.Job, a.Size)[a.Local], Config{Token: secret, Port: own})
	if err != nil {
		fmt.Println("open:", err)
		return 1
	}
	defer mem.Close()
	if a.Work == "sum" {
		err = sumWork(mem, a.Local)
	} else {
		err = loopWork(mem)
	}
	if err != nil {
		fmt.Printf("missing=%d closed=%t %v\n", mem.Missing(), errors.Is(err, ring.ErrClosed), err)
		return 0
	}
	fmt.Println("ok")
	return 0
}

// sumWork sums arenas in place as an all-reduce does: each worker sums its share of all
// arenas and then copies the others' shares.
func sumWork(mem ring.Memory, me int) error {
	for round, n := range []int{1, 1000, 300_001} {
		parts, err := mem.Arena(context.Background(), n)
		if err != nil {
			return err
		}
		p := len(parts)
		for i := range parts[me] {
			parts[me][i] = float32((me+1)*(i%5) + round)
		}
		if err := mem.Sync(context.Background()); err != nil {
			return err
		}
		from, to := me*n/p, (me+1)*n/p
		for i := from; i < to; i++ {
			for r := range parts {
				if r != me {
					parts[me][i] += parts[r][i]
				}
			}
		}
		if err := mem.Sync(context.Background()); err != nil {
			return err
		}
		for r := range parts {
			for i := r * n / p; i < (r+1)*n/p; i++ {
				if want := float32(p*(p+1)/2*(i%5) + p*round); parts[r][i] != want {
					return fmt.Errorf("round %d: element %d is %g, want %g", round, i, parts[r][i], want)
				}
			}
		}
	}
	return mem.Sync(context.Background())
}

// loopWork waits at barriers until one fails. A number on standard input makes it interrupt
// once Missing returns that worker.
func loopWork(mem ring.Memory) error {
	go func() {
		var late int
		if _, err := fmt.Scan(&late); err != nil {
			return
		}
		for mem.Missing() != late {
			runtime.Gosched()
		}
		fmt.Println("interrupt")
		mem.Interrupt()
	}()
	for i := 0; ; i++ {
		if i == 50 {
			fmt.Println("looping")
		}
		if err := mem.Sync(context.Background()); err != nil {
			return err
		}
	}
}

// process is a worker in a process of its own.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

// start starts p workers with the same work. They end with the test. The last one has the user id uid,
// if that is not 0.
func start(t *testing.T, p int, work string, uid uint32) []*process {
	t.Helper()
	ctx := testContext(t)
	secret := token.New().Reveal() // of this job only, so other tests are not disturbed
	all := make([]*process, p)
	for i := range all {
		s, err := json.Marshal(assignment{fmt.Sprint(t.Name(), os.Getpid(), secret[:8]), secret, i, p, work})
		if err != nil {
			t.Fatal(err)
		}
		w := &process{t: t, cmd: exec.CommandContext(ctx, "/proc/self/exe")}
		w.cmd.Env = append(os.Environ(), workerVariable+"="+string(s))
		if uid > 0 && i == p-1 {
			w.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		}
		w.cmd.Stderr = os.Stderr
		out, err := w.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if w.in, err = w.cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		w.lines = bufio.NewScanner(out)
		if err := w.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			w.cmd.Process.Kill()
			w.cmd.Wait()
		})
		all[i] = w
	}
	return all
}

// stop stops the worker and returns once none of its threads runs.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		p.t.Fatal(err)
	}
	var how syscall.WaitStatus
	if _, err := syscall.Wait4(p.cmd.Process.Pid, &how, syscall.WUNTRACED, nil); err != nil || !how.Stopped() {
		p.t.Fatalf("a worker has ended instead of stopped: %v", err)
	}
}

// says returns the worker's next line.
func (p *process) says() string {
	p.t.Helper()
	if !p.lines.Scan() {
		p.t.Fatalf("a worker has said nothing more: %v", p.lines.Err())
	}
	return p.lines.Text()
}

// expect fails the test unless the worker's next line contains all words.
func (p *process) expect(words ...string) {
	p.t.Helper()
	line := p.says()
	for _, s := range words {
		if !strings.Contains(line, s) {
			p.t.Errorf("a worker says %q, want %q in it", line, s)
		}
	}
}
