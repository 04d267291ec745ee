package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"ringtrain/ring/exitcode"
)

// Child is the process of one rank.
type Child struct {
	rank    int
	cmd     *exec.Cmd
	group   processGroup
	streams [2]pipeReader
	heard   chan struct{} // closed when both streams are read to their ends
}

// lastLines bounds the wait for the last lines of a rank that has ended.
const lastLines = 100 * time.Millisecond

// Program is the command that a rank runs.
type Program struct {
	Path  string
	Argv  []string
	Env   []string
	Dir   string   // "": that of this process
	Input *os.File // nil: none
	Cores []int    // cores that the rank may use; nil: all
}

// LookUp finds the program of a command line, as a shell does in the folder dir.
func LookUp(program, dir string) (string, error) {
	at := program
	if dir != "" && !filepath.IsAbs(program) && strings.ContainsRune(program, filepath.Separator) {
		at = filepath.Join(dir, program)
	}
	path, err := exec.LookPath(at)
	if err != nil {
		return "", CannotRun(program, err)
	}
	return path, nil
}

// CheckDir checks the working directory of ranks.
func CheckDir(dir string) error {
	if err := unix.Access(dir+"/.", unix.X_OK); err != nil {
		return exitcode.With(exitcode.Usage, fmt.Errorf("--wdir is %s, want a folder that is there: %w", dir, err))
	}
	return nil
}

// CannotRun is the error of a program that cannot be started, with its exit code.
func CannotRun(program string, err error) error {
	if ee, ok := errors.AsType[*exec.Error](err); ok {
		err = ee.Err
	}
	code := exitcode.Failed
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot):
		code, err = exitcode.NotFound, errors.New("not found in PATH")
	case errors.Is(err, fs.ErrNotExist):
		code = exitcode.NotFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.E2BIG):
		code = exitcode.NotRunnable
	}
	return exitcode.With(code, fmt.Errorf("program %s: %w", program, err))
}

// Start starts one rank and passes its output to hear in chunks. An empty chunk is the end
// of an output. The calling thread must live as long as the rank: the system ends the rank
// with its thread.
func Start(p Program, rank int, guard *GuardProcess, hear func(rank int, toErr bool, chunk []byte)) (*Child, error) {
	cmd := &exec.Cmd{Path: p.Path, Args: p.Argv, Env: p.Env, Dir: p.Dir, SysProcAttr: rankAttr()}
	if p.Dir != "" {
		cmd.Env = append(slices.Clip(cmd.Env), "PWD="+p.Dir)
	}
	if p.Input != nil {
		cmd.Stdin = p.Input
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer outW.Close()
	errR, errW, err := os.Pipe()
	if err != nil {
		outR.Close()
		return nil, err
	}
	defer errW.Close()
	cmd.Stdout, cmd.Stderr = outW, errW
	err = onCores(p.Cores, func() error {
		if err := guard.start(cmd); err != nil {
			return CannotRun(p.Argv[0], err)
		}
		return nil
	})
	if err != nil {
		outR.Close()
		errR.Close()
		return nil, err
	}
	ch := &Child{rank: rank, cmd: cmd, group: processGroup{id: cmd.Process.Pid}, streams: [2]pipeReader{{outR}, {errR}}, heard: make(chan struct{})}
	var readers sync.WaitGroup
	for i, s := range ch.streams {
		readers.Go(func() { s.readAll(func(chunk []byte) { hear(rank, i == 1, chunk) }) })
	}
	go func() {
		readers.Wait()
		close(ch.heard)
	}()
	return ch, nil
}

// Stdin returns the standard input of this process for rank 0, nil if it is a terminal: the
// rank is in the background of the terminal, and its first read would stop it.
func Stdin() *os.File {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return os.Stdin
}

// Group returns the id of the process group that the rank leads.
func (ch *Child) Group() int { return ch.group.id }

// Signal sends s to all processes of the rank's group.
func (ch *Child) Signal(s syscall.Signal) { ch.group.signal(s) }

// Wait returns when the rank's own process has ended and its last lines, which tell why, are passed on.
// If a process that it has left behind holds the outputs open, Wait waits no longer than lastLines.
func (ch *Child) Wait() Ending {
	ch.cmd.Wait() // the process state has more than the error
	limit := time.NewTimer(lastLines)
	defer limit.Stop()
	select {
	case <-ch.heard:
	case <-limit.C:
	}
	return endingOf(ch.rank, ch.cmd.Process.Pid, ch.cmd.ProcessState)
}

// Clear ends the processes that the rank has left behind and passes on the last of its
// output. It reports whether the process group is empty.
func (ch *Child) Clear(grace time.Duration) bool {
	empty := ch.group.sweep(grace)
	for _, s := range ch.streams { // a process outside the group may hold the pipe open for ever
		s.pipe.SetReadDeadline(time.Now().Add(SettleTime))
	}
	<-ch.heard
	return empty
}
