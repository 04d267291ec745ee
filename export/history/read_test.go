package history

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

const startLine = `{"event":"start","time":"2026-03-01T12:00:00Z","job":"mnist"}` + "\n"

// write writes a file below a fresh folder and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRead verifies that a run is read from a folder, from its history and from saved lines, and is named
// by the folder or the file. Events and fields of a later version, and a torn last line, are passed over.
func TestRead(t *testing.T) {
	text := startLine + `{"event":"later","time":"2026-03-01T12:00:00Z","x":[1]}` + "\n" +
		`{"event":"warning","time":"2026-03-01T12:00:01Z","cause":"hot","later":{"a":1}}` + "\n" + `{"event":"do`
	file := write(t, "mnist/"+File, text)
	for path, name := range map[string]string{filepath.Dir(file): "mnist", file: "mnist", write(t, "night.jsonl", text): "night"} {
		run, err := Read(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if run.Name != name || len(run.Events) != 2 || run.Events[0].Event.(report.Start).Job != "mnist" || run.Events[1].Event.(report.Warning).Cause != "hot" {
			t.Errorf("%s is read as %+v, want the run %s", path, run, name)
		}
	}
}

// TestReadFaults verifies that what is no history is refused with its code, and by file and line.
func TestReadFaults(t *testing.T) {
	long := startLine + `{"event":"warning","time":"2026-03-01T12:00:01Z","cause":"` + strings.Repeat("x", maxLine) + `"}` + "\n"
	for _, tt := range []struct {
		name, text, want string
		code             int
	}{
		{"other.csv", "epoch,loss\n1,0.5\n", "other.csv:1: ", exitcode.BadData},
		{"list.jsonl", startLine + "[1,2]\n", "list.jsonl:2: ", exitcode.BadData},
		{"nameless.jsonl", startLine + startLine + "{}\n", "nameless.jsonl:3: ", exitcode.BadData},
		{"typed.jsonl", startLine + `{"event":"step","time":"2026-03-01T12:00:01Z","step":"x"}` + "\n", "typed.jsonl:2: ", exitcode.BadData},
		{"long.jsonl", long, "long.jsonl:2: ", exitcode.BadData},
		{"binary.jsonl", string(bytes.Repeat([]byte{0}, maxLine+1)), "binary.jsonl:1: ", exitcode.BadData},
		{"empty.jsonl", "", "empty.jsonl", exitcode.NoInput},
		{"later.jsonl", `{"event":"later","time":"2026-03-01T12:00:00Z"}` + "\n", "later.jsonl", exitcode.NoInput},
	} {
		run, err := Read(write(t, tt.name, tt.text))
		if err == nil || exitcode.Of(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s is read as %v, error %v with code %d, want one with %d that has %q", tt.name, run, err, exitcode.Of(err), tt.code, tt.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); exitcode.Of(err) != exitcode.NoInput || !strings.Contains(err.Error(), "none: no history") {
		t.Errorf("a folder that is not there: %v with code %d", err, exitcode.Of(err))
	}
}

// TestReadPipe verifies that a folder or a pipe in place of the history is refused, and not waited for. A pipe
// of another name is read, as a shell makes one of saved lines that are compressed.
func TestReadPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, File)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(filepath.Dir(write(t, File+"/x", "")))
	for _, path := range []string{dir, pipe, folder} {
		if _, err := Read(path); exitcode.Of(err) != exitcode.NoInput || !strings.HasSuffix(err.Error(), File+" is no file") {
			t.Errorf("%s: %v, want that the history is no file", path, err)
		}
	}
	saved := filepath.Join(dir, "night.jsonl")
	if err := syscall.Mkfifo(saved, 0o600); err != nil {
		t.Fatal(err)
	}
	go os.WriteFile(saved, []byte(startLine), 0)
	if run, err := Read(saved); err != nil || len(run.Events) != 1 {
		t.Errorf("a pipe with saved lines: %v, %v", run, err)
	}
}

// TestManyClasses verifies that an evaluation or an end whose lists do not fit a line loses them, and
// stays readable.
func TestManyClasses(t *testing.T) {
	eval := report.Metrics{Split: "eval", Accuracy: report.NewNumber(0.5), Recall: slices.Repeat([]report.Number{1. / 3}, maxLine/16)}
	for _, e := range []report.Event{eval, report.Done{Eval: &eval}} {
		if text := line(after(0, e)); len(text) == 0 || len(text) > 1000 || !bytes.Contains(text, []byte(`"accuracy":0.5`)) {
			t.Errorf("the line of %s has %d bytes", e.Kind(), len(text))
		}
	}
	if text := line(after(0, warning(strings.Repeat("x", maxLine)))); text != nil {
		t.Errorf("a warning has a line of %d bytes, want none", len(text))
	}
}

// FuzzRead verifies that no file makes reading panic or hang, and that an error names the file.
func FuzzRead(f *testing.F) {
	f.Add([]byte(startLine + `{"event":"step","time":"2026-03-01T12:00:01Z","step":3,"loss":"NaN","examples":5}` + "\n"))
	f.Add([]byte(startLine + `{"event":"ranks","time":"2026-03-01T12:00:01Z","ranks":[{"rank":1,"busy_s":0.5}]}` + "\n" + `{"event":"eval"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var thin thinner
		whole, err := scan(bytes.NewReader(text), "file", func(s report.Stamped) {
			for _, kept := range thin.add(s) {
				line(kept)
			}
		})
		if whole > int64(len(text)) || err != nil && !strings.HasPrefix(err.Error(), "file:") {
			t.Errorf("%d bytes of %d are whole, error %v", whole, len(text), err)
		}
	})
}
