package ring_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/ring"
)

// TestReview8GroupToken verifies that a token file which a group may read is accepted if root owns it and the group is one of
// the process's, also behind the links of a Secret's volume, and that no other one is. It needs root, to own files by others.
func TestReview8GroupToken(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	const stranger = 54321
	mine := os.Getegid()
	token := ring.NewToken()
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
		if err := os.WriteFile(file, []byte(token.Reveal()+"\n"), 0o600); err != nil {
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
		got, err := ring.FindToken(func(v string) string { return map[string]string{"RINGTRAIN_TOKEN_FILE": name}[v] })
		if tt.want && (err != nil || got.Reveal() != token.Reveal()) {
			t.Errorf("mode %#o, owner %d, group %d: %v, want the token", tt.mode, tt.uid, tt.gid, err)
		}
		if !tt.want && (err == nil || !strings.Contains(err.Error(), "others could read the token")) {
			t.Errorf("mode %#o, owner %d, group %d: error %v, want a refusal", tt.mode, tt.uid, tt.gid, err)
		}
	}
}
