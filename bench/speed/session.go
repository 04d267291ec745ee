package speed

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"ringtrain/bench/child"
)

// startTimeout bounds the start of a contender, and each turn beyond its requested
// duration.
const startTimeout = 3 * time.Minute

// A session is a group of processes that has warmed up and waits for turns. The first
// process reads turns from standard input and writes answers to standard output, one per
// line.
type session struct {
	stop    context.CancelCauseFunc
	ctx     context.Context // ends with the processes
	input   io.WriteCloser
	answers chan []byte
	ended   chan struct{} // closed once every process has ended

	library string // description by the driver
}

// An answer is a line of a driver.
type answer struct {
	Library      string  `json:"library"`
	ExamplesPerS float64 `json:"examples_per_s"`
	Loss         any     `json:"loss"`
}

// newSession starts the processes and waits until they are ready.
func newSession(ctx context.Context, processes []child.Process) (*session, error) {
	in, input, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &session{input: input, answers: make(chan []byte, 1), ended: make(chan struct{})}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	lines, out := io.Pipe()
	processes[0].Stdin, processes[0].Stdout = in, out
	go s.read(lines)
	go func() {
		defer close(s.ended)
		err := child.Run(s.ctx, processes)
		s.stop(cmp.Or(err, errors.New("all of its processes have ended")))
		in.Close()
		out.Close()
	}()
	a, err := s.next(startTimeout)
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

// read forwards the answers and ignores other lines.
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

// turn trains for about the given duration.
func (s *session) turn(seconds time.Duration) (answer, error) {
	if _, err := fmt.Fprintln(s.input, seconds.Seconds()); err != nil {
		return answer{}, errors.Join(err, context.Cause(s.ctx))
	}
	return s.next(seconds + startTimeout)
}

// close ends the processes by closing their input, and after child.Grace by TERM.
func (s *session) close() {
	s.input.Close()
	late := time.NewTimer(child.Grace)
	defer late.Stop()
	select {
	case <-s.ended:
	case <-late.C:
		s.stop(errors.New("closed"))
		<-s.ended
	}
}
