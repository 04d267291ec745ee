package token

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ringtrain/ring/exitcode"
)

// localName is the file of the local token in the runtime folder.
const localName = "local.token"

// Local returns the local token of this user: processes of one user on one host that have
// no other token know each other by it, and processes of other users are refused. The first
// process makes it. This process keeps its file from being cleaned.
func Local() (Token, error) {
	dir, err := Folder()
	if err != nil {
		return Token{}, WantFile(err)
	}
	return localIn(dir)
}

// WantFile adds the way out to an error about the runtime folder of this host: a file of the user's
// own takes the folder's place.
func WantFile(err error) error { return fmt.Errorf("%w: set %s", err, fileVariable) }

func localIn(dir string) (Token, error) {
	name := filepath.Join(dir, localName)
	t, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeLocal(name); err != nil {
			return Token{}, WantFile(err)
		}
		t, err = readFile(name)
	}
	if err != nil {
		return t, fmt.Errorf("%w: remove %s", err, name)
	}
	renew(name)
	return t, nil
}

// makeLocal makes the file of a local token, unless another process has just made it. The
// file is complete when it gets its name.
func makeLocal(name string) error {
	fresh := filepath.Join(filepath.Dir(name), unlockedPrefix+drawName())
	defer os.Remove(fresh)
	if err := New().WriteFile(fresh, false); err != nil {
		return err
	}
	if err := os.Link(fresh, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return exitcode.With(exitcode.CannotCreate, err)
	}
	return nil
}

// Hold writes the token to a file of the runtime folder, for ranks that this process starts.
// The zero Token needs no file, and its path is "".
func (t Token) Hold() (*HeldFile, error) {
	if !t.set {
		return new(HeldFile), nil
	}
	return Hold(".token", []byte(t.Reveal()+"\n"))
}
