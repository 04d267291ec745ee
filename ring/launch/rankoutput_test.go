package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestRankOutputs verifies the prefixes of lines, that --json keeps standard output free of
// other text, and that files get every byte.
func TestRankOutputs(t *testing.T) {
	tests := []struct {
		name     string
		c        Config
		out, err string // patterns of file names
	}{
		{"prefix=default", Config{}, `^\[0\] a\n\[1\] b\n$`, `^\[1\] c\n$`},
		{"prefix=tag", Config{Output: Output{Tag: true}}, `^\[0,stdout\] a\n\[1,stdout\] b\n$`, `^\[1,stderr\] c\n$`},
		{"prefix=time", Config{Output: Output{Stamp: true}}, `^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \[[01]\] [ab]\n){2}$`, `^\d{4}-\S+Z \[1\] c\n$`},
		{"prefix=both", Config{Output: Output{Stamp: true, Tag: true}}, `^\S+Z \[0,stdout\] a\n\S+Z \[1,stdout\] b\n$`, `^\S+Z \[1,stderr\] c\n$`},
		{"output=JSON", Config{Output: Output{JSON: true, Stamp: true, Tag: true}}, `^a\n$`, `^\S+Z \[1,stdout\] b\n\S+Z \[1,stderr\] c\n$`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, err bytes.Buffer
			tt.c.NP, tt.c.Stdout, tt.c.Stderr, tt.c.OutputDir = 2, &out, &err, filepath.Join(t.TempDir(), "out")
			v, fault := newRankOutputs(&tt.c)
			if fault != nil {
				t.Fatal(fault)
			}
			v.write(0, false, []byte("a")) // an unfinished line
			v.write(0, false, nil)
			v.write(1, false, []byte("b\n"))
			v.write(1, true, []byte("c\n"))
			if _, fault := v.close(); fault != nil {
				t.Error(fault)
			}
			if !regexp.MustCompile(tt.out).Match(out.Bytes()) || !regexp.MustCompile(tt.err).Match(err.Bytes()) {
				t.Errorf("standard output and error are %q and %q, want %s and %s", out.Bytes(), err.Bytes(), tt.out, tt.err)
			}
			for name, want := range map[string]string{"rank.0/stdout": "a", "rank.0/stderr": "", "rank.1/stdout": "b\n", "rank.1/stderr": "c\n"} {
				if got, err := os.ReadFile(filepath.Join(tt.c.OutputDir, name)); err != nil || string(got) != want {
					t.Errorf("file %s has %q, error %v, want %q", name, got, err, want)
				}
			}
		})
	}
}

// TestRankOutputsLink verifies that a link in the place of a rank's file is an error, and that nothing is
// written to where it leads.
func TestRankOutputsLink(t *testing.T) {
	dir, precious := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	os.Mkdir(filepath.Join(dir, "rank.0"), 0o755)
	os.WriteFile(precious, []byte("mine"), 0o644)
	os.Symlink(precious, filepath.Join(dir, "rank.0", "stderr"))
	_, err := newRankOutputs(&Config{NP: 1, Output: Output{OutputDir: dir}})
	if exitcode.Of(err) != exitcode.CannotCreate || !strings.HasSuffix(err.Error(), "rank.0/stderr is a link, want a file") {
		t.Errorf("error %v with code %d, want a link and 73", err, exitcode.Of(err))
	}
	if text, _ := os.ReadFile(precious); string(text) != "mine" {
		t.Errorf("the file behind the link has %q", text)
	}
}

// TestRankOutputsFault verifies that files that cannot be created or written are errors.
func TestRankOutputsFault(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	if _, err := Run(t.Context(), Config{NP: 1, Program: []string{"true"}, Output: Output{OutputDir: file}}); exitcode.Of(err) != exitcode.CannotCreate {
		t.Errorf("error %v with code %d, want 73", err, exitcode.Of(err))
	}
	v, err := newRankOutputs(&Config{NP: 1, Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer), Output: Output{OutputDir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	v.ranks[0][0].file.Close() // like a full disk
	v.write(0, false, []byte("a\n"))
	if _, err := v.close(); exitcode.Of(err) != exitcode.IO {
		t.Errorf("error %v with code %d, want 74", err, exitcode.Of(err))
	}
}
