package token

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestFolder verifies which of two places has the runtime folder, and what is said if neither
// can have it: a folder that others could read or that is another user's is passed over.
func TestFolder(t *testing.T) {
	uid := os.Geteuid()
	name := fmt.Sprintf("ringtrain-%d", uid)
	for _, tt := range []struct {
		name          string
		first, second func(path string) error // make what is there before; nil: nothing
		want          int                     // index of the place; -1: none
		code          int
		says          []string
	}{
		{name: "first=absent", want: 0},
		{name: "first=own", first: ownFolder(0o700), want: 0},
		{name: "first=open", first: ownFolder(0o755), want: 1},
		{name: "first=link", first: aLink, want: 1},
		{name: "first=file", first: aFile, want: 1},
		{name: "first=cannot be made", first: noParent, want: 1},
		{name: "both=open", first: ownFolder(0o755), second: ownFolder(0o711), want: -1, code: exitcode.Auth, says: []string{"first/" + name + " has mode 0755, want 0700"}},
		{name: "both=cannot be made", first: noParent, second: noParent, want: -1, code: exitcode.CannotCreate, says: []string{"first/" + name, "second/" + name}},
		{name: "first=cannot be made second=link", first: noParent, second: aLink, want: -1, code: exitcode.Auth, says: []string{"second/" + name + " is a symbolic link, want a folder"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			roots := makeRoots(t)
			for i, make := range []func(string) error{tt.first, tt.second} {
				if make == nil {
					continue
				}
				if err := make(filepath.Join(roots[i], name)); err != nil {
					t.Fatal(err)
				}
			}
			dir, err := folderOf(uid, roots...)
			if tt.want < 0 {
				if exitcode.Of(err) != tt.code {
					t.Errorf("error %v with code %d, want %d", err, exitcode.Of(err), tt.code)
				}
				for _, words := range tt.says {
					if err == nil || !strings.Contains(err.Error(), words) {
						t.Errorf("error %v, want %q in it", err, words)
					}
				}
				return
			}
			info, fault := os.Stat(filepath.Dir(dir))
			if want := filepath.Join(roots[tt.want], name, "ringtrain"); err != nil || dir != want || fault != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("folder %s (%v), error %v, want %s with mode 0700", dir, info, err, want)
			}
		})
	}
}

// TestFolderOfAnother verifies that a folder of another user is passed over, and named with
// both users if there is no other place.
func TestFolderOfAnother(t *testing.T) {
	roots, uid := makeRoots(t), os.Geteuid()+1
	for _, root := range roots {
		if err := os.Mkdir(filepath.Join(root, fmt.Sprintf("ringtrain-%d", uid)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	_, err := folderOf(uid, roots...)
	if want := fmt.Sprintf("%s/ringtrain-%d belongs to uid %d, want %d", roots[0], uid, uid-1, uid); exitcode.Of(err) != exitcode.Auth || err.Error() != want {
		t.Errorf("error %v with code %d, want %q with %d", err, exitcode.Of(err), want, exitcode.Auth)
	}
	if err := WantFile(err); !strings.HasSuffix(err.Error(), ": set RINGTRAIN_TOKEN_FILE") || exitcode.Of(err) != exitcode.Auth {
		t.Errorf("a process without another token says %v", err)
	}
}

// makeRoots makes two folders that a runtime folder may lie in.
func makeRoots(t *testing.T) []string {
	dir := t.TempDir()
	roots := []string{filepath.Join(dir, "first"), filepath.Join(dir, "second")}
	for _, root := range roots {
		if err := os.Mkdir(root, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return roots
}

func ownFolder(mode os.FileMode) func(string) error {
	return func(path string) error {
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
		return os.Chmod(path, mode)
	}
}

func aLink(path string) error    { return os.Symlink(filepath.Dir(path), path) }
func aFile(path string) error    { return os.WriteFile(path, nil, 0o600) }
func noParent(path string) error { return os.Remove(filepath.Dir(path)) }
