package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// A pseudoTerminal is a terminal whose other end a test reads.
type pseudoTerminal struct {
	t            *testing.T
	master, file *os.File // file is the end that a program has
	shown        *recorder
	read         chan struct{} // closed when all that programs wrote is in shown
}

// newTerminal returns a terminal with so many columns.
func newTerminal(t *testing.T, columns int) *pseudoTerminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err = errors.Join(err, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pseudoTerminal{t: t, master: master, file: file, shown: newRecorder(), read: make(chan struct{})}
	p.resize(columns)
	go func() {
		defer close(p.read)
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b) // EIO once no program has the other end
			p.shown.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	return p
}

// resize sets the number of columns.
func (p *pseudoTerminal) resize(columns int) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: uint16(columns)}); err != nil {
		p.t.Fatal(err)
	}
}

// start runs ringtrain on the terminal, in a session of its own.
func (p *pseudoTerminal) start(b *box, args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := exec.Command(self(b), args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.file, p.file, p.file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	killer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	p.t.Cleanup(func() { killer.Stop() })
	return cmd
}

// end waits for the command and returns all that it wrote.
func (p *pseudoTerminal) end(cmd *exec.Cmd) string {
	p.t.Helper()
	err := cmd.Wait()
	p.file.Close()
	<-p.read
	if err != nil {
		p.t.Fatalf("%v: %v\n%q", cmd.Args[1:], err, p.shown)
	}
	return p.shown.String()
}

// escape is a control sequence of a terminal, with its last letter.
var escape = regexp.MustCompile(`\x1b\[[0-9;?]*([A-Za-z])`)

// bars returns the lines with a bar that a screen showed.
func bars(shown string) []string {
	var all []string
	for line := range strings.FieldsFuncSeq(escape.ReplaceAllString(shown, ""), func(r rune) bool { return r == '\r' || r == '\n' }) {
		if strings.HasPrefix(line, "[=") || strings.HasPrefix(line, "[>") || strings.HasPrefix(line, "step ") {
			all = append(all, line)
		}
	}
	return all
}

// screenAfter returns the lines that a terminal shows in the end. A control sequence clears what stands
// behind the cursor.
func screenAfter(written string) []string {
	var lines []string
	var line []rune
	column := 0
	for written != "" {
		if at := escape.FindStringSubmatchIndex(written); at != nil && at[0] == 0 {
			line = line[:column]
			written = written[at[1]:]
			continue
		}
		r, size := utf8.DecodeRuneInString(written)
		written = written[size:]
		switch r {
		case '\n':
			lines, line, column = append(lines, string(line)), nil, 0
		case '\r':
			column = 0
		default:
			line = append(line[:column], append([]rune{r}, line[min(column+1, len(line)):]...)...)
			column++
		}
	}
	return append(lines, string(line))
}

// TestRunOnTerminal runs a job on two pseudo-terminals, one of which becomes narrower
// meanwhile. It verifies that each bar fits, that a screen gets no other control sequence than those
// that replace the bar, and that the results stay at the end.
func TestRunOnTerminal(t *testing.T) {
	for _, tt := range []struct {
		name            string
		columns, become int
		env             string
	}{
		{"200 columns, then 60", 200, 60, "TERM=xterm-256color"},
		{"no colour", 100, 100, "NO_COLOR=1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t).with(tt.env)
			p := newTerminal(t, tt.columns)
			cmd := p.start(b, "run", "-np", "2", "linear", "--set", "train.epochs=1000", "--set", "log.every=50ms")
			p.shown.await(t, "step ")
			p.resize(tt.become)
			shown := p.end(cmd)

			widest := 0
			for _, line := range bars(shown) {
				widest = max(widest, utf8.RuneCountInString(line))
			}
			if widest == 0 || widest > tt.columns {
				t.Errorf("the widest bar has %d columns, want 1 to %d:\n%q", widest, tt.columns, shown)
			}
			if last := bars(shown); tt.become < tt.columns && utf8.RuneCountInString(last[len(last)-1]) > tt.become {
				t.Errorf("after the change to %d columns the last bar is %q", tt.become, last[len(last)-1])
			}
			for _, m := range escape.FindAllStringSubmatch(shown, -1) {
				if m[1] != "J" {
					t.Errorf("control sequence %q, want the one that clears a bar", m[0])
				}
			}
			screen := strings.Join(screenAfter(shown), "\n")
			for _, want := range []string{"done  100,000 steps", "eval  step 100000", "linear  2 ranks on 1 host"} {
				if strings.Count(screen, want) != 1 {
					t.Errorf("%q stands %d times on the screen, want once:\n%s", want, strings.Count(screen, want), screen)
				}
			}
			most := 0
			if tt.become < tt.columns {
				most = 1 // the bar that the change found
			}
			if left := bars(screen); len(left) > most || strings.Contains(shown, "digest=") {
				t.Errorf("bars %q are left, want at most %d, or a digest is shown:\n%s", left, most, screen)
			}
		})
	}
}

// TestProgress verifies where progress is drawn: on the terminal of a process that a person has started,
// and not by a rank that a launcher has started, whose terminal may become a log; --progress says
// otherwise. Digests, which programs compare, are in the log alone.
func TestProgress(t *testing.T) {
	const mpirun = "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1"
	for _, tt := range []struct {
		env, args    string
		drawn, inLog bool
	}{
		{"", "train linear", true, false},
		{"", "train linear --progress plain", false, false},
		{"TERM=dumb", "train linear --progress live", false, false},
		{mpirun, "train linear", false, true},
		{mpirun, "train linear --progress live", true, true},
		{"RANK=0 WORLD_SIZE=1", "train linear", false, true},
		{"FLUX_TASK_RANK=0 FLUX_JOB_SIZE=1", "train linear", false, true},
		{"RINGTRAIN_RANK=0 RINGTRAIN_WORLD_SIZE=1", "train linear", false, true},
		{"FLUX_TASK_RANK=0 FLUX_JOB_SIZE=1", "run -np 2 linear", true, false},
		{"", "run -np 2 linear --progress plain", false, false},
	} {
		t.Run("set="+tt.env+"/args="+tt.args, func(t *testing.T) {
			p := newTerminal(t, 80)
			b := newBox(t).with(append([]string{"TERM=xterm"}, strings.Fields(tt.env)...)...)
			shown := p.end(p.start(b, append(strings.Fields(tt.args), "--set", "train.steps=200")...))
			if drawn := strings.Contains(shown, "\x1b["); drawn != tt.drawn {
				t.Errorf("escape codes: %v, want %v\n%q", drawn, tt.drawn, shown)
			}
			if inLog := strings.Contains(shown, "digest="); inLog != tt.inLog {
				t.Errorf("digests: %v, want %v\n%q", inLog, tt.inLog, shown)
			}
		})
	}
	if e := newBox(t).must(64, "run", "-np", "2", "linear", "--progress", "bar"); !strings.Contains(e.stderr, `--progress is "bar", want auto, live or plain`) {
		t.Errorf("it says %q", e.stderr)
	}
}
