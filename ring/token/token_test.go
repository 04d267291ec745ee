package token_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

var digits = strings.Repeat("0123456789abcdef", 4)

// TestToken verifies that tokens differ, that Parse reads what Reveal returns, and that
// no print verb shows the secret.
func TestToken(t *testing.T) {
	a, b := token.New(), token.New()
	if a == b {
		t.Error("two tokens are equal")
	}
	back, err := token.Parse(" " + a.Reveal() + "\n")
	if err != nil || back != a {
		t.Errorf("parsed again: %v, equal %v", err, back == a)
	}
	for _, format := range []string{"%v", "%s", "%#v", "%+v"} {
		text := fmt.Sprintf(format, a) + fmt.Sprintf(format, struct{ T token.Token }{a})
		if strings.Contains(text, a.Reveal()[:8]) || !strings.Contains(text, "token(set)") {
			t.Errorf("%s prints %q", format, text)
		}
	}
	var none token.Token
	if none.Set() || !a.Set() || none.Reveal() != "" || none.String() != "token(none)" {
		t.Errorf("the zero token is %v, set %v", none, none.Set())
	}
}

// TestParseErrors verifies that Parse refuses other text, and that the error does not
// repeat the text.
func TestParseErrors(t *testing.T) {
	for _, s := range []string{"", "00", digits[1:], digits + "0", "g" + digits[1:]} {
		_, err := token.Parse(s)
		if err == nil || exitcode.Of(err) != exitcode.Auth {
			t.Errorf("%q: error %v with exit code %d, want %d", s, err, exitcode.Of(err), exitcode.Auth)
		}
		if err != nil && s != "" && strings.Contains(err.Error(), s) && len(s) > 2 {
			t.Errorf("error %q shows the secret", err)
		}
	}
}

// TestFind verifies the order of the three places, and that a bad token in one place is
// an error.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := strings.Repeat("ff", token.Bytes)
	good, open, bad := file("good", "\ufeff"+other+"\n", 0o600), file("open", other, 0o644), file("bad", "x", 0o600)
	missing := filepath.Join(dir, "missing")
	for _, tt := range []struct {
		name        string
		env, file   string
		config      bool // whether the user has a token in the configuration folder
		want, error string
	}{
		{name: "none"},
		{name: "environment first", env: digits, file: good, config: true, want: digits},
		{name: "then the file named", file: good, config: true, want: other},
		{name: "then the user's", config: true, want: digits},
		{name: "environment wrong", env: "x", error: "RINGTRAIN_TOKEN: token is not 64"},
		{name: "file open to others", file: open, error: "open has mode 0644, want 0600"},
		{name: "file wrong", file: bad, error: "bad: token is not 64"},
		{name: "file missing", file: missing, error: "missing: no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config := filepath.Join(dir, "empty")
			if tt.config {
				config = filepath.Join(dir, "config")
				file("config/ringtrain/token", digits, 0o600)
			}
			t.Setenv("XDG_CONFIG_HOME", config)
			got, err := token.Find(func(key string) string {
				return map[string]string{"RINGTRAIN_TOKEN": tt.env, "RINGTRAIN_TOKEN_FILE": tt.file}[key]
			})
			if tt.error != "" {
				if err == nil || !strings.Contains(err.Error(), tt.error) || exitcode.Of(err) != exitcode.Auth {
					t.Errorf("error %v with exit code %d, want %q with %d", err, exitcode.Of(err), tt.error, exitcode.Auth)
				}
				return
			}
			if err != nil || got.Reveal() != tt.want {
				t.Errorf("found %q, %v, want %q", got.Reveal(), err, tt.want)
			}
		})
	}
}

// TestFindHostileFile verifies that a token file that is no file, or has no end, is refused at once: Find waits for no
// writer and reads no more than the beginning.
func TestFindHostileFile(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"1 GB": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<30))
		},
		"loop": func(path string) error { return os.Symlink(path, path) },
	} {
		t.Run("is="+name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "token")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := token.Find(func(key string) string { return map[string]string{"RINGTRAIN_TOKEN_FILE": path}[key] })
			runtime.ReadMemStats(&after)
			if exitcode.Of(err) != exitcode.Auth || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v with exit code %d, want %d and the name", err, exitcode.Of(err), exitcode.Auth)
			}
			if read := after.TotalAlloc - before.TotalAlloc; read > 1<<20 {
				t.Errorf("%d bytes of memory are taken", read)
			}
		})
	}
}

// TestHide verifies that the environment of ranks has no token, and names its file last.
func TestHide(t *testing.T) {
	environ := []string{"RINGTRAIN_TOKEN=a", "PATH=/bin", "RINGTRAIN_TOKEN_FILE=old", "RINGTRAIN_TOKEN=b"}
	if got, want := token.Hide(environ, "/new"), []string{"PATH=/bin", "RINGTRAIN_TOKEN_FILE=old", "RINGTRAIN_TOKEN_FILE=/new"}; !slices.Equal(got, want) {
		t.Errorf("the environment is %q, want %q", got, want)
	}
	if got := token.Hide(environ[:2], ""); !slices.Equal(got, environ[1:2]) {
		t.Errorf("without a file the environment is %q, want %q", got, environ[1:2])
	}
}

// TestGiven verifies that the environment alone counts for a job of a launcher, and that the
// name of its file does not depend on the working directory.
func TestGiven(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	own, err := token.OwnFile()
	if err != nil {
		t.Fatal(err)
	}
	secret := token.New()
	if err := secret.WriteFile(own, false); err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	if got, err := token.Given(none); got != (token.Source{}) || err != nil {
		t.Errorf("without variables the token is %v, error %v", got, err)
	}
	t.Chdir(filepath.Dir(own))
	got, err := token.Given(func(key string) string { return map[string]string{"RINGTRAIN_TOKEN_FILE": "token"}[key] })
	if got.Token != secret || err != nil || !filepath.IsAbs(got.File) || filepath.Base(got.File) != "token" {
		t.Errorf("the token is %v of %q, error %v", got, got.File, err)
	}
}

// TestProve verifies that a proof holds for one token and one division into parts only.
func TestProve(t *testing.T) {
	secret, err := token.Parse(digits)
	if err != nil {
		t.Fatal(err)
	}
	proof := secret.Prove([]byte("ab"), []byte("c"))
	if !secret.Proves(proof[:], []byte("ab"), []byte("c")) {
		t.Error("a proof does not hold")
	}
	other := token.New()
	switch {
	case other.Proves(proof[:], []byte("ab"), []byte("c")):
		t.Error("the proof of one token holds for another")
	case secret.Proves(proof[:], []byte("a"), []byte("bc")), secret.Proves(proof[:], []byte("abc")), secret.Proves(proof[:], []byte("ab"), []byte("c"), nil):
		t.Error("a proof holds for other parts")
	case secret.Proves(proof[:31], []byte("ab"), []byte("c")), secret.Proves(nil, []byte("ab"), []byte("c")):
		t.Error("a part of a proof holds")
	}
}

// TestWriteFile verifies that Find returns the token that WriteFile stored, that only
// replace overwrites a file, and that others cannot read the file.
func TestWriteFile(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	name := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "ringtrain", "token")
	find := func() token.Token {
		got, err := token.Find(func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first, second := token.New(), token.New()
	if err := first.WriteFile(name, false); err != nil || find() != first {
		t.Fatalf("first token: error %v, found %v", err, find() == first)
	}
	if err := second.WriteFile(name, false); exitcode.Of(err) != exitcode.CannotCreate || find() != first {
		t.Errorf("second token: error %v, want exit code %d and the first token kept", err, exitcode.CannotCreate)
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := second.WriteFile(name, true); err != nil || find() != second {
		t.Errorf("replacing: error %v, found %v", err, find() == second)
	}
}

// TestWriteThroughLink verifies that a token whose name is a link is replaced where the link ends, and
// that a link to nothing is an error and stays.
func TestWriteThroughLink(t *testing.T) {
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := token.New().WriteFile(link, true); exitcode.Of(err) != exitcode.CannotCreate {
		t.Errorf("a link to nothing: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	secret := token.New()
	if err := secret.WriteFile(link, true); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != secret.Reveal()+"\n" {
		t.Errorf("the file behind the link does not have the token: %v", err)
	}
	if to, err := os.Readlink(link); to != "file" {
		t.Errorf("the link is %q, %v", to, err)
	}
}
