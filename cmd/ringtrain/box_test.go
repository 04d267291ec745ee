package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/input/convert"
	"ringtrain/input/realdata"
)

// A box is a new folder and an empty home folder in which a test runs command lines as a
// user would.
type box struct {
	*testing.T
	dir  string // working directory
	home string
	env  []string

	limit time.Duration // limit of each process

	system *syscall.SysProcAttr // of each process; nil: as this one
}

// inBox marks the processes of a box: it is in the environment of every process of a box
// except the guards of launchers.
const inBox = "TEST_BOX="

// underRace makes the race detector end a process at once, with a code that ringtrain
// does not use, if it found a race.
const underRace = "GORACE=atexit_sleep_ms=0 exitcode=99"

func newBox(t *testing.T) *box {
	b := &box{T: t, dir: t.TempDir(), home: t.TempDir(), limit: patience}
	b.env = []string{
		asRingtrain + "=1", inBox + b.dir, underRace, "HOME=" + b.home, "TMPDIR=" + b.home, "PATH=" + os.Getenv("PATH"),
	}
	return b
}

// with returns the box with additional variables.
func (b *box) with(env ...string) *box {
	c := *b
	c.env = slices.Concat(b.env, env)
	return &c
}

// inPath returns the box with a folder in PATH that has this program under the name ringtrain,
// for scripts.
func (b *box) inPath() *box {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	bin := b.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "ringtrain")); err != nil {
		b.Fatal(err)
	}
	return b.with("PATH=" + bin + ":" + os.Getenv("PATH"))
}

// lasting returns the box with another time limit for each process.
func (b *box) lasting(limit time.Duration) *box {
	c := *b
	c.limit = limit
	return &c
}

// path is a path in the box.
func (b *box) path(elem ...string) string {
	return filepath.Join(append([]string{b.dir}, elem...)...)
}

// write writes a file into the box.
func (b *box) write(name, text string) {
	b.Helper()
	path := b.path(filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		b.Fatal(err)
	}
}

// read returns the content of a file of the box.
func (b *box) read(elem ...string) string {
	b.Helper()
	text, err := os.ReadFile(b.path(elem...))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// files returns the files of the box, relative and sorted.
func (b *box) files() []string {
	b.Helper()
	var names []string
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(b.dir, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return names
}

// ended is the result of a command line.
type ended struct {
	code           int
	stdout, stderr string
}

// run runs ringtrain with args until it ends.
func (b *box) run(args ...string) ended {
	b.Helper()
	return b.start(args...).wait()
}

// must runs ringtrain with args and fails the test unless it ends with code.
func (b *box) must(code int, args ...string) ended {
	b.Helper()
	e := b.run(args...)
	if e.code != code {
		b.Fatalf("ringtrain %s\nended with %d, want %d\n%s%s", strings.Join(args, " "), e.code, code, e.stdout, e.stderr)
	}
	return e
}

// lastLine returns the last line of a rank's standard error under `run`, without its
// prefix.
func (e ended) lastLine(rank int) string {
	return lastOf(linesOf(e.stderr, rank))
}

// linesOf returns the lines of a rank without the prefix of `run`.
func linesOf(text string, rank int) []string {
	prefix := "[" + strconv.Itoa(rank) + "] "
	var lines []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			lines = append(lines, strings.TrimSuffix(rest, "\n"))
		}
	}
	return lines
}

// last returns the last line of standard error.
func (e ended) last() string {
	return lastOf(strings.Split(strings.TrimSuffix(e.stderr, "\n"), "\n"))
}

func lastOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// shared returns the folder of real data sets. It skips the test if MNIST is not there.
func shared(t *testing.T) string {
	t.Helper()
	return filepath.Dir(realdata.Path(t, "data", "mnist"))
}

// clicks returns a folder of data sets with that of the job ctr: records from the text
// in input/testdata.
func clicks(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	to := filepath.Join(dir, "a8a", "int64-label")
	if err := os.MkdirAll(to, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a8a_train.libsvm", "a8a_test.libsvm"} {
		text := convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{filepath.Join("..", "..", "input", "testdata", "a8a", name+".gz")}}}
		records := convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{filepath.Join(to, name+".tfrecords")}}}
		if err := convert.Convert(t.Context(), text, records); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// long skips the test under -short and under the race detector.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: trains for seconds, make check-long runs it")
	}
}

// short reports whether the test must omit a part, and logs the omission.
func short(t *testing.T) bool {
	t.Helper()
	if testing.Short() {
		t.Log("long: further parameters, make check-long has them")
		return true
	}
	return false
}
