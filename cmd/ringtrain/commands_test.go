package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"ringtrain/ring/token"
)

// TestJobs verifies that the built-in jobs are listed, shown, and can be trained from
// the shown file.
func TestJobs(t *testing.T) {
	b := newBox(t)
	if got := b.must(0, "jobs").stdout; !strings.Contains(got, "\n  ctr            Sparse") || !strings.Contains(got, "\n  cnn-small      residual") {
		t.Errorf("jobs prints %q", got)
	}
	for _, job := range []string{"ctr", "linear", "mnist"} {
		b.write("my-"+job+".yaml", b.must(0, "jobs", "show", job).stdout)
		b.must(0, "run", "-np", "2", "my-"+job+".yaml", "--set", "input.synthetic=true", "--set", "train.steps=3", "--set", "export.if=always")
	}
}

// TestVersion verifies the content of version.
func TestVersion(t *testing.T) {
	want := regexp.MustCompile(`^ringtrain \S+, commit (not recorded|[0-9a-f]{8} of [0-9-]{10}(, changed since)?), protocol \d+, ` + regexp.QuoteMeta(runtime.Version()) + ` \w+/\w+\nkernel sets portable( \w+)*\nbuild \S+ \w+/\w+ [0-9a-f]{16} \S+\n$`)
	for _, arg := range []string{"version", "--version", "-v"} {
		if got := newBox(t).must(0, arg).stdout; !want.MatchString(got) {
			t.Errorf("%s prints %q, want %v", arg, got, want)
		}
	}
}

// TestToken verifies that token makes the user's token with mode 0600, that it prints the id of the token
// but not the token, and that run takes the token of that file only if the environment names it.
func TestToken(t *testing.T) {
	for _, env := range []string{"", "XDG_CONFIG_HOME"} {
		t.Run("folder="+env, func(t *testing.T) {
			b := newBox(t)
			dir := filepath.Join(b.home, ".config")
			if env != "" {
				dir = filepath.Join(b.home, "xdg")
				b = b.with(env + "=" + dir)
			}
			file := filepath.Join(dir, "ringtrain", "token")
			e := b.must(0, "token")
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Fatalf("want %s with mode 0600: %v %v", file, info, err)
			}
			first := readFile(t, file)
			if secret := strings.TrimSpace(first); len(secret) < 43 || strings.Contains(e.stdout+e.stderr, secret) {
				t.Errorf("want 32 bytes, and not printed: %d characters", len(secret))
			}
			secret, err := token.Parse(first)
			if err != nil {
				t.Fatal(err)
			}
			id := "token " + secret.ID().String()
			if again := b.must(73, "token"); !strings.Contains(e.stdout, id) || !strings.Contains(again.stderr, id+" already") {
				t.Errorf("printed are %q and then %q, want %q in both", e.stdout, again.stderr, id)
			}
			if readFile(t, file) != first {
				t.Error("a second token replaced the first without --force")
			}
			b.must(0, "token", "--force")
			if readFile(t, file) == first {
				t.Error("--force made no new token")
			}
			if err := os.Chmod(file, 0o644); err != nil {
				t.Fatal(err)
			}
			job := []string{"-np", "2", "linear", "--set", "train.steps=2", "--set", "export.if=always"}
			b.must(0, append([]string{"run"}, job...)...) // its token is fresh
			if e := b.with("RINGTRAIN_TOKEN_FILE="+file).must(77, append([]string{"run"}, job...)...); !strings.Contains(e.stderr, "0600") {
				t.Errorf("a token that all can read: %q, want the mode named", e.stderr)
			}
		})
	}
}
