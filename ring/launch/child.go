package launch

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

// child is the process of one rank.
type child struct {
	rank    int
	cmd     *exec.Cmd
	group   group
	streams [2]stream
	passing sync.WaitGroup // of the streams
}

// program is what a rank executes.
type program struct {
	path  string
	argv  []string
	env   []string
	dir   string   // "" for this process's own
	input *os.File // nil for none
}

// lookUp finds the program of a command line, as shells do in the folder dir.
func lookUp(program, dir string) (string, error) {
	at := program
	if dir != "" && !filepath.IsAbs(program) && strings.ContainsRune(program, filepath.Separator) {
		at = filepath.Join(dir, program)
	}
	path, err := exec.LookPath(at)
	if err != nil {
		return "", cannotRun(program, err)
	}
	return path, nil
}

// checkDir checks the folder that ranks were told to run in.
func checkDir(dir string) error {
	if err := unix.Access(dir+"/.", unix.X_OK); err != nil {
		return exitcode.With(exitcode.Usage, fmt.Errorf("--wdir is %s, want a folder that is there: %w", dir, err))
	}
	return nil
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

// startChild starts one rank and passes what it prints to hear, in chunks; an
// empty one is the end. The calling thread must live as long as the rank.
func startChild(p program, rank int, hear func(rank int, toErr bool, chunk []byte)) (*child, error) {
	cmd := &exec.Cmd{Path: p.path, Args: p.argv, Env: p.env, Dir: p.dir, SysProcAttr: rankAttr()}
	if p.dir != "" {
		cmd.Env = append(slices.Clip(cmd.Env), "PWD="+p.dir)
	}
	if p.input != nil {
		cmd.Stdin = p.input
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
		return nil, cannotRun(p.argv[0], err)
	}
	ch := &child{rank: rank, cmd: cmd, group: group{id: cmd.Process.Pid}, streams: [2]stream{{outR}, {errR}}}
	for i, s := range ch.streams {
		ch.passing.Go(func() { s.pass(func(chunk []byte) { hear(rank, i == 1, chunk) }) })
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
