package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
		{"output=bare", Config{Output: Output{Bare: true, Stamp: true, Tag: true}}, `^a\n$`, `^\S+Z \[1,stdout\] b\n\S+Z \[1,stderr\] c\n$`},
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

// TestRankOutputsRead verifies that a Reader gets each line of rank 0's standard output whole, that both
// outputs and both files get what it makes of them, its last line behind those that rank 0 writes itself, and that
// a login may send more only once both have room.
func TestRankOutputsRead(t *testing.T) {
	for _, bare := range []bool{false, true} {
		var out, err bytes.Buffer
		var lines []string
		read := func(line []byte) Text {
			lines = append(lines, string(line))
			if len(lines) == 2 {
				return Text{Last: []byte("last\n")}
			}
			return Text{Out: append([]byte("out "), line...), Err: append([]byte("err "), line...), File: append([]byte("file "), line...)}
		}
		c := Config{NP: 2, Stdout: &out, Stderr: &err, Output: Output{Bare: bare, Read: read, OutputDir: t.TempDir()}}
		v, fault := newRankOutputs(&c)
		if fault != nil {
			t.Fatal(fault)
		}
		accepted := 0
		long := "c" + strings.Repeat("x", 3<<20) // longer than a line that is passed on
		for _, chunk := range []string{"a\nb", "b\n" + long, ""} {
			v.writeAsync(0, false, []byte(chunk), func() { accepted++ })
		}
		v.write(0, true, []byte("own\n"))
		v.write(0, true, nil)
		v.write(1, false, []byte("other\n"))
		if _, fault := v.close(); fault != nil {
			t.Error(fault)
		}
		wantOut, wantErr := "[0] out a\n[0] out "+long+"\n[1] other\n", "[0] err a\n[0] err "+long+"\n[0] own\n[0] last\n"
		if bare {
			wantOut, wantErr = "out a\nout "+long+"\n", "[0] err a\n[0] err "+long+"\n[0] own\n[0] last\n[1] other\n"
		}
		if out.String() != wantOut || err.String() != wantErr {
			t.Errorf("bare=%t: standard output and error are %q and %q, want %q and %q", bare, &out, &err, wantOut, wantErr)
		}
		if !slices.Equal(lines, []string{"a\n", "bb\n", long + "\n"}) || accepted != 3 {
			t.Errorf("bare=%t: it reads %q, and %d chunks are accepted, want 3", bare, lines, accepted)
		}
		for name, want := range map[string]string{"rank.0/stdout": "file a\nfile " + long + "\n", "rank.0/stderr": "err a\nerr " + long + "\nown\nlast\n", "rank.1/stdout": "other\n"} {
			if got, err := os.ReadFile(filepath.Join(c.OutputDir, name)); err != nil || string(got) != want {
				t.Errorf("bare=%t: file %s has %q, error %v, want %q", bare, name, got, err, want)
			}
		}
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

// TestRankOutputsOnce verifies which lines of standard error are left out: a reason for the end that another rank has
// given, with Once any line that another rank has written, with Told each reason, and with All none. Files have all.
func TestRankOutputsOnce(t *testing.T) {
	for _, tt := range []struct {
		output Output
		want   string
	}{
		{Output{}, "[0] a\n[0] ringtrain: b\n[1] a\n[1] a\n[1] ringtrain: c\n"},
		{Output{Tag: true}, "[0,stderr] a\n[0,stderr] ringtrain: b\n[1,stderr] a\n[1,stderr] a\n[1,stderr] ringtrain: c\n"},
		{Output{Once: true}, "[0] a\n[0] ringtrain: b\n[1] ringtrain: c\n"},
		{Output{Told: true}, "[0] a\n[1] a\n[1] a\n"},
		{Output{Once: true, Told: true, All: true}, "[0] a\n[0] ringtrain: b\n[1] a\n[1] a\n[1] ringtrain: b\n[1] ringtrain: c\n"},
	} {
		var errs bytes.Buffer
		tt.output.OutputDir = t.TempDir()
		v, fault := newRankOutputs(&Config{NP: 2, Stderr: &errs, Output: tt.output})
		if fault != nil {
			t.Fatal(fault)
		}
		v.write(0, true, []byte("a\nringtrain: b\n"))
		v.write(1, true, []byte("a\na\nringtrain: b\nringtrain: c\n"))
		if reason := v.takeReason(1); reason != "c" {
			t.Errorf("%+v: rank 1 ends with %q, want c", tt.output, reason)
		}
		if _, fault := v.close(); fault != nil {
			t.Error(fault)
		}
		if errs.String() != tt.want {
			t.Errorf("%+v: standard error is %q, want %q", tt.output, &errs, tt.want)
		}
		if got, err := os.ReadFile(filepath.Join(tt.output.OutputDir, "rank.1/stderr")); err != nil || string(got) != "a\na\nringtrain: b\nringtrain: c\n" {
			t.Errorf("%+v: the file has %q, %v", tt.output, got, err)
		}
	}
}
