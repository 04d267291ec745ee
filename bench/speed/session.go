package speed

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
	"syscall"
	"time"
)

// A process is one that a library's contender consists of: a rank, or a launcher.
type process struct {
	argv []string
	env  []string // besides this process's own
}

// patience bounds the start of a contender, and each of its turns beyond the
// seconds that were asked for.
const patience = 3 * time.Minute

// A session is a crew of processes that has started, warmed up and waits for
// turns. The first process takes them on standard input and answers on standard
// output, a line each.
type session struct {
	stop    context.CancelCauseFunc
	ctx     context.Context // ends with the crew
	input   io.WriteCloser
	answers chan []byte
	ended   chan struct{} // closed once every process has ended

	library string // that it runs, in its own words
}

// An answer is what a driver says.
type answer struct {
	Library      string  `json:"library"`
	ExamplesPerS float64 `json:"examples_per_s"`
	Loss         any     `json:"loss"`
}

// newSession starts the crew and waits until it is ready.
func newSession(ctx context.Context, crew []process) (*session, error) {
	s := &session{answers: make(chan []byte, 1), ended: make(chan struct{})}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	started := make(chan error, 1)
	go s.watch(crew, started)
	if err := <-started; err != nil {
		s.close()
		return nil, err
	}
	a, err := s.next(patience)
	if err == nil && a.Library == "" {
		err = errors.New("its driver does not say what it runs")
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.library = a.Library
	return s, nil
}

// watch starts the processes and waits for their ends. A process that fails ends
// the others. One thread does both: a child is killed when the thread that
// started it ends.
func (s *session) watch(crew []process, started chan<- error) {
	defer close(s.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ends := make(chan error, len(crew))
	running := 0
	for i, p := range crew {
		err := s.start(i, p, ends)
		if err != nil {
			started <- err
			s.stop(err)
			break
		}
		running++
	}
	if running == len(crew) {
		started <- nil
	}
	for range running {
		if err := <-ends; err != nil {
			s.stop(err)
		}
	}
	s.stop(errors.New("all of its processes have ended"))
}

func (s *session) start(i int, p process, ends chan<- error) error {
	cmd, said := exec.CommandContext(s.ctx, p.argv[0], p.argv[1:]...), new(tail)
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = append(os.Environ(), p.env...), said, dieWithParent()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	var out io.ReadCloser
	if i == 0 {
		var err error
		if s.input, err = cmd.StdinPipe(); err != nil {
			return err
		}
		if out, err = cmd.StdoutPipe(); err != nil {
			return err
		}
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		if out != nil {
			s.read(out)
		}
		if err := cmd.Wait(); err != nil {
			ends <- fmt.Errorf("process %d: %w%s", i, err, said)
			return
		}
		ends <- nil
	}()
	return nil
}

// read hands on the answers; other lines are passed over.
func (s *session) read(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if line := lines.Bytes(); len(line) > 0 && line[0] == '{' {
			select {
			case s.answers <- append([]byte(nil), line...):
			case <-s.ctx.Done():
			}
		}
	}
}

// next waits for an answer.
func (s *session) next(within time.Duration) (answer, error) {
	late := time.NewTimer(within)
	defer late.Stop()
	var a answer
	select {
	case line := <-s.answers:
		err := json.Unmarshal(line, &a)
		return a, err
	case <-s.ctx.Done():
		return a, context.Cause(s.ctx)
	case <-late.C:
		return a, fmt.Errorf("no answer within %v", within)
	}
}

// turn trains for about so long.
func (s *session) turn(seconds time.Duration) (answer, error) {
	if _, err := fmt.Fprintln(s.input, seconds.Seconds()); err != nil {
		return answer{}, errors.Join(err, context.Cause(s.ctx))
	}
	return s.next(seconds + patience)
}

// close ends the crew: by the end of its input, or by TERM.
func (s *session) close() {
	if s.input != nil {
		s.input.Close()
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-s.ended:
	case <-late.C:
		s.stop(errors.New("closed"))
		<-s.ended
	}
}
