package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
)

// toy is a data set of two small files.
func toy(bases ...string) set {
	s := set{name: "toy", bases: bases, pause: time.Millisecond}
	for _, name := range []string{"a", "b"} {
		text := contents()[name]
		sum := sha256.Sum256([]byte(text))
		path := name
		if name == "b" {
			path = "folder/b"
		}
		s.files = append(s.files, file{path, name, int64(len(text)), hex.EncodeToString(sum[:])})
	}
	return s
}

func contents() map[string]string { return map[string]string{"a": "first file", "b": "second"} }

// server serves files by their path.
func server(t testing.TB, files map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// check verifies that dir has exactly the complete toy.
func check(t testing.TB, dir string) {
	t.Helper()
	for path, want := range map[string]string{"toy/a": "first file", "toy/folder/b": "second"} {
		if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, error %v", path, got, err)
		}
	}
	count := 0
	filepath.WalkDir(dir, func(_ string, d os.DirEntry, _ error) error {
		if !d.IsDir() {
			count++
		}
		return nil
	})
	if count != 2 {
		t.Errorf("%d files, want 2", count)
	}
}

// TestFetch verifies every location of files: the second mirror, a base URL, and a
// folder in three layouts.
func TestFetch(t *testing.T) {
	folder := func(paths map[string]string) string {
		dir := t.TempDir()
		for path, name := range paths {
			full := filepath.Join(dir, path)
			os.MkdirAll(filepath.Dir(full), 0o777)
			os.WriteFile(full, []byte(contents()[name]), 0o666)
		}
		return dir
	}
	good := server(t, contents())
	tests := []struct{ name, mirror, from string }{
		{"published", good + "/", ""},
		{"second mirror", server(t, nil) + "/ " + good + "/", ""},
		{"first mirror is wrong", server(t, map[string]string{"a": "first fool", "b": "second."}) + "/ " + good + "/", ""},
		{"URL", "", good},
		{"URL with slash", "", good + "/"},
		{"folder as published", "", folder(map[string]string{"a": "a", "b": "b"})},
		{"folder as kept", "", folder(map[string]string{"a": "a", "folder/b": "b"})},
		{"folder of sets", "", folder(map[string]string{"toy/a": "a", "toy/folder/b": "b"})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			told := map[string]int64{}
			progress := func(file string, done, total int64) {
				if done < told[file] || done > total {
					t.Errorf("%s: %d of %d after %d", file, done, total, told[file])
				}
				told[file] = done
			}
			s := toy(strings.Fields(tt.mirror)...)
			if tt.name == "first mirror is wrong" {
				progress = nil // starts again
			}
			if err := s.fetch(t.Context(), tt.from, dir, progress); err != nil {
				t.Fatal(err)
			}
			check(t, dir)
			if progress != nil && (told["a"] != 10 || told["folder/b"] != 6) {
				t.Errorf("progress ended at %v", told)
			}
		})
	}
}

// TestKeep verifies that a right file is kept and a wrong one is replaced.
func TestKeep(t *testing.T) {
	dir, s := t.TempDir(), toy()
	if err := s.fetch(t.Context(), server(t, contents()), dir, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.fetch(t.Context(), server(t, nil), dir, nil); err != nil {
		t.Errorf("right files were asked for again: %v", err)
	}
	for _, wrong := range []string{"short", "FIRST FILE"} {
		os.WriteFile(filepath.Join(dir, "toy/a"), []byte(wrong), 0o666)
		if err := s.fetch(t.Context(), server(t, contents()), dir, nil); err != nil {
			t.Fatal(err)
		}
		check(t, dir)
	}
}

// TestFaults verifies that a wrong file does not get its name, and that the error names
// fault and location.
func TestFaults(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	tests := []struct {
		name, from, err string
		code            int
	}{
		{"not found", server(t, nil), "toy: URL/toy/a: 404 Not Found\nURL/a: 404 Not Found", exitcode.NoInput},
		{"no folder", "/nowhere/at/all", "toy: input: open /nowhere/at/all/toy/a: no such file or directory", exitcode.NoInput},
		{"wrong bytes", server(t, map[string]string{"a": "first fool"}), "toy: URL/a: sha256 is ", exitcode.BadData},
		{"too long", server(t, map[string]string{"a": "first file and more"}), "toy: URL/a: more than 10 bytes, want 10", exitcode.BadData},
		{"too short", server(t, map[string]string{"a": "first"}), "toy: URL/a: 5 bytes, want 10", exitcode.BadData},
		{"no server", closed.URL, "toy: URL/toy/a: dial tcp", exitcode.IO},
		{"no URL", "http://[", "toy: input: parse", exitcode.Usage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := toy()
			s.files = s.files[:1]
			err := s.fetch(t.Context(), tt.from, dir, nil)
			text := strings.ReplaceAll(fmt.Sprint(err), tt.from, "URL")
			if !strings.HasPrefix(text, "fetch: "+strings.ReplaceAll(tt.err, tt.from, "URL")) || exitcode.Of(err) != tt.code {
				t.Errorf("error %q (%d), want %q (%d)", text, exitcode.Of(err), tt.err, tt.code)
			}
			if left, _ := os.ReadDir(filepath.Join(dir, "toy")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	if err := Fetch(t.Context(), "imagenet", "", t.TempDir(), nil); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "mnist, a8a") {
		t.Errorf("unknown name: %v (%d)", err, exitcode.Of(err))
	}
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o666)
	if err := toy().fetch(t.Context(), "", filepath.Join(file, "x"), nil); err == nil {
		t.Error("a folder below a file: no error")
	}
}

// TestCancelled verifies that a context ends a fetch, which leaves no partial file.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := toy().fetch(ctx, server(t, contents()), dir, func(string, int64, int64) { cancel(why) })
	if !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
		if !d.IsDir() {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
}
