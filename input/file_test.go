package input_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// TestCreate verifies that a file appears complete, is replaced only on request, and is
// read back as written.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	text := []byte(strings.Repeat("some text ", 1000))
	for _, name := range []string{"plain", "packed.gz"} {
		path := filepath.Join(dir, name)
		o, err := input.Create(path, false)
		if err != nil {
			t.Fatal(err)
		}
		o.Write(text)
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there before Commit", name)
		}
		if err := o.Commit(); err != nil {
			t.Fatal(err)
		}
		o.Close()
		f, err := input.OpenFile(t.Context(), path, input.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		f.Close()
		if err != nil || !bytes.Equal(got, text) || f.Compressed != strings.HasSuffix(name, ".gz") {
			t.Errorf("%s: %d bytes, compressed %t, error %v", name, len(got), f.Compressed, err)
		}
		if _, err := input.Create(path, false); exitcode.Of(err) != exitcode.CannotCreate {
			t.Errorf("%s: error %v, want that it exists", name, err)
		}
		again, err := input.Create(path, true)
		if err != nil {
			t.Fatal(err)
		}
		again.Write([]byte("half"))
		again.Close() // without Commit
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("folder holds %v, want the two files", entries)
	}
	_, err := input.Create(filepath.Join(dir, "no", "where"), false)
	if want := "output " + dir + "/no/where: no such file or directory"; err == nil || err.Error() != want || exitcode.Of(err) != exitcode.CannotCreate {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestOpenFile verifies the code and the text of each error of a file.
func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	tests := []struct {
		name    string
		content string
		err     string
		code    int
	}{
		{"empty", "", "", 0},
		{"one byte", "\x1f", "", 0},
		{"not really gzip", "\x1f\x8bxxxxxxxxxxxx", "input: DIR/f: gzip: invalid header", exitcode.BadData},
		{"gzip header cut off", "\x1f\x8b\x08", "input: DIR/f: file ends early", exitcode.BadData},
		{"corrupt gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff", "input: DIR/f: compressed data is corrupt at byte ", exitcode.BadData},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(tt.content), 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := input.OpenFile(t.Context(), path, input.Limits{})
			if err == nil {
				defer f.Close()
				if _, err = io.ReadAll(f); err != nil {
					err = input.ReadError(path, err)
				}
			}
			text := ""
			if err != nil {
				text = strings.ReplaceAll(err.Error(), dir, "DIR")
			}
			if !strings.HasPrefix(text, tt.err) || tt.err == "" && text != "" || exitcode.Of(err) != tt.code {
				t.Errorf("error %q (%d), want %q (%d)", text, exitcode.Of(err), tt.err, tt.code)
			}
		})
	}
	if _, err := input.OpenFile(t.Context(), filepath.Join(dir, "none"), input.Limits{}); exitcode.Of(err) != exitcode.NoInput {
		t.Errorf("missing file: %v (%d)", err, exitcode.Of(err))
	}
	for name, want := range map[string]string{dir: "input: " + dir + " is a folder, want a regular file", os.DevNull: "input: " + os.DevNull + " is a pipe or a device, want a regular file"} {
		if _, err := input.OpenFile(t.Context(), name, input.Limits{}); err == nil || !strings.HasPrefix(err.Error(), want) || exitcode.Of(err) != exitcode.NoInput {
			t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), want)
		}
	}
}

// TestMemory verifies the content of a Memory of several blocks.
func TestMemory(t *testing.T) {
	for _, n := range []int{0, 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3<<20 + 17} {
		want := make([]byte, n)
		for i := range want {
			want[i] = byte(i * 7 >> 3)
		}
		var m input.Memory
		if k, err := m.ReadFrom(iotest{bytes.NewReader(want)}); err != nil || k != int64(n) || m.Size() != int64(n) {
			t.Fatalf("n=%d: held %d of %d, error %v", n, m.Size(), k, err)
		}
		got := make([]byte, n)
		if _, err := m.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
			t.Errorf("n=%d: ReadAt gives other bytes, error %v", n, err)
		}
		for off := int64(0); off < m.Size(); {
			v := m.View(off)
			if len(v) == 0 || !bytes.Equal(v, want[off:off+int64(len(v))]) {
				t.Fatalf("n=%d: View(%d) gives other bytes", n, off)
			}
			off += int64(len(v))
		}
		if k, err := m.ReadAt(make([]byte, 2), max(int64(n)-1, 0)); err != io.EOF || k != min(n, 1) {
			t.Errorf("n=%d: reading over the end gives %d bytes, error %v", n, k, err)
		}
	}
}

// iotest hides every method of a reader but Read, and reads odd lengths.
type iotest struct{ r io.Reader }

func (i iotest) Read(p []byte) (int, error) { return i.r.Read(p[:min(len(p), 12345)]) }

// TestLabels verifies which labels are valid.
func TestLabels(t *testing.T) {
	tests := []struct {
		rule input.Labels
		v    float64
		want float32
		err  string
	}{
		{input.Labels{Classes: 10}, 9, 9, ""},
		{input.Labels{Classes: 10}, 10, 0, "label is 10, want a class in [0, 10)"},
		{input.Labels{Classes: 10}, -1, 0, "label is -1, want a class in [0, 10)"},
		{input.Labels{Classes: 10}, 1.5, 0, "label is 1.5, want a class in [0, 10)"},
		{input.Labels{Binary: true}, -1, 0, ""},
		{input.Labels{Binary: true}, 1, 1, ""},
		{input.Labels{Binary: true}, 2, 0, "label is 2, want 0 or 1 (or -1 for 0)"},
		{input.Labels{}, -3.5, -3.5, ""},
		{input.Labels{}, 1e39, 0, "label is 1e+39, want a finite float32"},
	}
	for _, tt := range tests {
		got, err := tt.rule.Value(tt.v)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err || err != nil && exitcode.Of(err) != exitcode.BadData {
			t.Errorf("%+v: label %g is %g, error %q, want %g, %q", tt.rule, tt.v, got, text, tt.want, tt.err)
		}
	}
}
