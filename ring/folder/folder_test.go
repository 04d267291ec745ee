package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestInTheWay verifies, for links, files and loops at a path, above it and amid it, what is said of
// the path, and that nothing is made or removed.
func TestInTheWay(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"there/sub", "sealed"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		"gone": "/purged/models", "relative": "purged/models", "second": "gone", "loop": "loop", "ring1": "ring2", "ring2": "ring1",
		"good": "there", "tofile": "file", "below": "file/x", "there/up": "../gone",
	}
	for link, to := range links {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	const purged = "a link to /purged/models, which is not there"
	for _, tt := range []struct{ dir, nearest, err string }{
		{"there", "there", ""},
		{"there/sub/a/b", "there/sub", ""},
		{"good/new", "good", ""},
		{"new/deep", ".", ""},
		{".", ".", ""},
		{"/", "/", ""},
		{"gone", "", "gone is " + purged},
		{"gone/", "", "gone is " + purged},
		{"gone/1/variables", "", "cannot write into gone/1/variables: gone is " + purged},
		{"./gone/../gone/x", "", "cannot write into ./gone/../gone/x: gone is " + purged},
		{"good/up/x", "", "cannot write into good/up/x: good/up is a link to ../gone, which is not there"},
		{"second/x", "", "cannot write into second/x: second is a link to gone, which is not there"},
		{"relative", "", "relative is a link to purged/models, which is not there"},
		{"loop", "", "loop is a link to loop: "},
		{"ring1/x/y", "", "cannot write into ring1/x/y: ring1 is a link to ring2: "},
		{"file", "", "file is a file, want a folder"},
		{"file/x/y", "", "cannot write into file/x/y: file is a file, want a folder"},
		{"tofile/x", "", "cannot write into tofile/x: tofile is a file, want a folder"},
		{"below", "", "below is a link to file/x: "},
		{"there/" + strings.Repeat("n", 300), "", "stat there/n"},
	} {
		at, err := Nearest(tt.dir)
		if at != tt.nearest || (err == nil) != (tt.err == "") || err != nil && (!strings.HasPrefix(err.Error(), tt.err) || exitcode.Of(err) != exitcode.CannotCreate) {
			t.Errorf("%s: %q, %v; want %q, %s", tt.dir, at, err, tt.nearest, tt.err)
		}
		if err != nil && Make(tt.dir) == nil {
			t.Errorf("%s is made", tt.dir)
		}
	}
	for link, to := range links {
		if got, err := os.Readlink(link); err != nil || got != to {
			t.Errorf("link %s is %q (%v), want %q", link, got, err, to)
		}
	}
	if err := Make("good/a/b"); err != nil {
		t.Error(err)
	} else if _, err := os.Stat("there/a/b"); err != nil {
		t.Error(err)
	}
}

// TestElsewhere verifies that an output is not written into a folder whose name begins as a URL.
func TestElsewhere(t *testing.T) {
	for _, name := range []string{"s3://b/ckpt", "https://h/x", filepath.Dir("s3://b/x.csv")} {
		if err := Make(name); exitcode.Of(err) != exitcode.CannotCreate || !strings.Contains(err.Error(), "://") || !strings.Contains(err.Error(), "want a folder of this host") {
			t.Errorf("%s: error %v (%d)", name, err, exitcode.Of(err))
		}
	}
	if at, err := Nearest(filepath.Join(t.TempDir(), "s3:", "x")); err != nil || at == "" {
		t.Errorf("a folder s3: below another one: %v", err)
	}
}

// TestFile verifies that a file is written where its links end, and that a link to nothing is an
// error.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for link, to := range map[string]string{"one": "two", "two": at("file"), "gone": "nothing", "loop": "loop"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"one": "file", "file": "file", "new": "new", "missing/new": "missing/new", "gone": "", "loop": "", "gone/new": "", "file/new": ""} {
		got, err := File(at(name))
		if err == nil && got != at(want) || (err != nil) != (want == "") || err != nil && exitcode.Of(err) != exitcode.CannotCreate {
			t.Errorf("%s is written at %s (%v), want %q", name, got, err, want)
		}
	}
}
