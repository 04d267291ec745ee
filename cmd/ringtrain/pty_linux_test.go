package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
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

// screenAfter returns the lines that a terminal shows in the end, which is wide enough for each of them.
func screenAfter(t *testing.T, written string) []string {
	t.Helper()
	lines := [][]rune{nil}
	row, column := 0, 0
	for written != "" {
		if at := escape.FindStringSubmatchIndex(written); at != nil && at[0] == 0 {
			code := written[:at[1]]
			written = written[at[1]:]
			switch code[len(code)-1] {
			case 'A':
				up, err := strconv.Atoi(strings.Trim(code, "\x1b[A"))
				if err != nil || up > row {
					t.Fatalf("%q goes above the screen, from row %d", code, row)
				}
				row -= up
			case 'J':
				lines = lines[:row+1]
				lines[row] = lines[row][:column]
			case 'm':
			default:
				t.Fatalf("control sequence %q, want those that move up, clear and paint", code)
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(written)
		written = written[size:]
		switch r {
		case '\n':
			if row++; row == len(lines) {
				lines = append(lines, nil)
			}
		case '\r':
			column = 0
		default:
			lines[row] = append(lines[row][:column], append([]rune{r}, lines[row][min(column+1, len(lines[row])):]...)...)
			column++
		}
	}
	var shown []string
	for _, line := range lines {
		shown = append(shown, string(line))
	}
	return shown
}

// TestRunOnTerminal runs a job on pseudo-terminals, one of which becomes narrower meanwhile. It verifies that one block
// and the result stay at the end, that each line fits, and which terminals get colours and other characters than ASCII.
func TestRunOnTerminal(t *testing.T) {
	for _, tt := range []struct {
		name            string
		columns, become int
		env             []string
		bar             string
		coloured        bool
	}{
		{"200 columns, then 70", 200, 70, []string{"LC_ALL=C"}, "[====", true},
		{"no colour", 100, 100, []string{"NO_COLOR=1", "LANG=C.UTF-8"}, "━━━━", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t).with(append(tt.env, "TERM=xterm-256color")...)
			p := newTerminal(t, tt.columns)
			cmd := p.start(b, "run", "-np", "2", "linear", "--set", "train.epochs=1000")
			p.shown.await(t, "\x1b[J")
			p.resize(tt.become)
			shown := p.end(cmd)

			screen := screenAfter(t, shown)
			all := strings.Join(screen, "\n")
			most := 1
			if tt.become < tt.columns {
				most = 2 // the block that the change found
			}
			if n := strings.Count(all, "examples/s   input"); n < 1 || n > most {
				t.Errorf("%d blocks are left, want 1, or %d", n, most)
			}
			if coloured := strings.Contains(shown, "\x1b[32m"); coloured != tt.coloured || !strings.Contains(all, tt.bar) || strings.Contains(shown, "digest=") {
				t.Errorf("colours: %v, want %v, a bar like %q, and no digest", coloured, tt.coloured, tt.bar)
			}
			for _, want := range []string{" linear, 2 parameters", "100 %  epoch 1000 of 1000", "step 100,000   loss", "RMSE     0.3", "next     ringtrain predict export/linear"} {
				if strings.Count(all, want) != 1 {
					t.Errorf("%q stands %d times on the screen, want once", want, strings.Count(all, want))
				}
			}
			for _, line := range screen[len(screen)-8:] {
				if utf8.RuneCountInString(line) > tt.become {
					t.Errorf("%q has %d columns, want %d at most", line, utf8.RuneCountInString(line), tt.become)
				}
			}
			if t.Failed() {
				t.Logf("the screen is\n%s", all)
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

// TestHangOnTerminal stops a rank. It verifies that the live block names it.
func TestHangOnTerminal(t *testing.T) {
	b := newBox(t).with("TERM=xterm")
	p := newTerminal(t, 100)
	cmd := p.start(b, append([]string{"run", "-np", "2", "--lease", "1h"}, endless()...)...)
	p.shown.await(t, "\x1b[J")
	pid := b.rankPID(1)
	kill(t, pid, syscall.SIGSTOP)
	p.shown.await(t, "others have waited ")
	kill(t, pid, syscall.SIGKILL)
	cmd.Wait()
}
