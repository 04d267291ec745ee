package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"ringtrain/ring/exitcode"
)

// child is the process of one rank.
type child struct {
	rank    int
	cmd     *exec.Cmd
	group   group
	streams [2]*stream
	passing sync.WaitGroup // of the streams
}

// lookUp finds the program of a command line, as shells do.
func lookUp(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", cannotRun(program, err)
	}
	return path, nil
}

// cannotRun gives a program that cannot be started its exit code.
func cannotRun(program string, err error) error {
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

// startChild starts one rank of c and passes its output to o. The calling
// thread must live as long as the rank.
func startChild(c *Config, path string, rank int, o *outlet) (*child, error) {
	cmd := &exec.Cmd{Path: path, Args: c.Program, Env: childEnv(c, rank), SysProcAttr: rankAttr()}
	if rank == 0 {
		cmd.Stdin = ownInput()
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
	if err := cmd.Start(); err != nil {
		outR.Close()
		errR.Close()
		return nil, cannotRun(c.Program[0], err)
	}
	ch := &child{rank: rank, cmd: cmd, group: group{id: cmd.Process.Pid}, streams: streamsOf(rank, outR, errR, c.JSON || c.Bare)}
	for _, s := range ch.streams {
		ch.passing.Go(func() { s.pass(o) })
	}
	return ch, nil
}

// ownInput returns the standard input of this process for rank 0, or nil for
// none. A terminal is not passed on: the rank is in the background of it, and
// would be stopped at the first read.
func ownInput() *os.File {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return os.Stdin
}

// childEnv is the environment of one rank.
func childEnv(c *Config, rank int) []string {
	env := slices.Clone(c.Env)
	set := func(value string, names ...string) {
		for _, name := range names {
			env = append(env, name+"="+value) // the last one counts
		}
	}
	r, n := strconv.Itoa(rank), strconv.Itoa(c.NP)
	set(r, "RINGTRAIN_RANK", "RINGTRAIN_LOCAL_RANK", "RANK", "LOCAL_RANK")
	set(n, "RINGTRAIN_WORLD_SIZE", "RINGTRAIN_LOCAL_SIZE", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
	if c.Rendezvous != "" {
		set(c.Rendezvous, "RINGTRAIN_RENDEZVOUS")
	}
	if c.JobID != "" {
		set(c.JobID, "RINGTRAIN_JOB_ID")
	}
	if c.Token.Set() {
		set(c.Token.Reveal(), "RINGTRAIN_TOKEN")
	}
	if c.JSON {
		set("1", "RINGTRAIN_JSON")
	}
	return env
}

// wait returns when the rank's own process has ended.
func (ch *child) wait() ending {
	ch.cmd.Wait() // the state says it better than the error
	return endingOf(ch.rank, ch.cmd.Process.Pid, ch.cmd.ProcessState)
}

// clear ends what the rank has left behind and passes on the last of its
// output. It tells whether the group is empty.
func (ch *child) clear(grace time.Duration) bool {
	empty := ch.group.sweep(grace)
	for _, s := range ch.streams { // a process outside the group may hold the pipe for ever
		s.from.SetReadDeadline(time.Now().Add(settling))
	}
	ch.passing.Wait()
	return empty
}
