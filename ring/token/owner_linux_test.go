package token_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/ring/token"
)

// TestGroupReadable verifies that Find accepts a token file that a group may read if root
// owns the file and the group is a group of this process. The file lies behind links, as
// in the volume of a Kubernetes Secret. The test needs root, to change owners.
func TestGroupReadable(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	const stranger = 54321
	mine := os.Getegid()
	secret := token.New()
	for _, tt := range []struct {
		mode     os.FileMode
		uid, gid int
		want     bool
	}{
		{0o640, 0, mine, true}, {0o440, 0, mine, true}, {0o600, 0, stranger, true}, {0o400, 0, mine, true}, {0o600, stranger, stranger, true},
		{0o640, 0, stranger, false}, {0o640, stranger, mine, false}, {0o644, 0, mine, false}, {0o660, 0, mine, false}, {0o641, 0, mine, false}, {0o604, 0, mine, false},
	} {
		dir := t.TempDir()
		data := filepath.Join(dir, "..2026_11_23")
		if err := os.Mkdir(data, 0o755); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(data, "token")
		if err := os.WriteFile(file, []byte(secret.Reveal()+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(file, tt.uid, tt.gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, tt.mode); err != nil {
			t.Fatal(err)
		}
		for link, to := range map[string]string{"..data": "..2026_11_23", "token": "..data/token"} { // as kubelet makes them
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		name := filepath.Join(dir, "token")
		got, err := token.Find(func(v string) string { return map[string]string{"RINGTRAIN_TOKEN_FILE": name}[v] })
		if tt.want && (err != nil || got.Reveal() != secret.Reveal()) {
			t.Errorf("mode %#o, owner %d, group %d: %v, want the token", tt.mode, tt.uid, tt.gid, err)
		}
		if !tt.want && (err == nil || !strings.Contains(err.Error(), "others could read the token")) {
			t.Errorf("mode %#o, owner %d, group %d: error %v, want a refusal", tt.mode, tt.uid, tt.gid, err)
		}
	}
}
