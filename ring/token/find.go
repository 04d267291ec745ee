package token

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ringtrain/ring/exitcode"
)

// Variables that name the token of a process.
const (
	variable     = "RINGTRAIN_TOKEN"
	fileVariable = "RINGTRAIN_TOKEN_FILE"
)

// Find returns the token of this user. It looks in three places and takes the first
// that is set: the variable RINGTRAIN_TOKEN, the file that RINGTRAIN_TOKEN_FILE names,
// and the file ringtrain/token in the user's configuration folder. It returns the zero
// Token if none is set.
func Find(getenv func(string) string) (Token, error) {
	given, err := Given(getenv)
	if given.set || err != nil {
		return given.Token, err
	}
	return Own()
}

// Source is a token and the absolute path of the file that it comes from; "": from none.
type Source struct {
	Token
	File string
}

// Given returns the token that the environment names. It returns the zero Token if the
// environment names none.
func Given(getenv func(string) string) (Source, error) {
	if s := getenv(variable); s != "" {
		t, err := Parse(s)
		if err != nil {
			err = fmt.Errorf("%s: %w", variable, err)
		}
		return Source{Token: t}, err
	}
	name := getenv(fileVariable)
	if name == "" {
		return Source{}, nil
	}
	t, err := readFile(name)
	if err != nil {
		return Source{}, err
	}
	file, err := filepath.Abs(name)
	return Source{t, file}, exitcode.With(exitcode.Auth, err)
}

// Own returns the token that `ringtrain token` has stored for this user, the zero Token if
// it has stored none.
func Own() (Token, error) {
	name, err := OwnFile()
	if err != nil {
		return Token{}, nil // no home folder
	}
	t, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return t, err
}

// OwnFile returns where `ringtrain token` stores the user's token. Without a home folder it
// is exitcode.CannotCreate.
func OwnFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "ringtrain", "token"), exitcode.With(exitcode.CannotCreate, err)
}

// Hide returns an environment without RINGTRAIN_TOKEN. With a file, the result names that
// file as the one with the token.
func Hide(environ []string, file string) []string {
	rest := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, variable+"=") })
	if file == "" {
		return rest
	}
	return append(rest, fileVariable+"="+file)
}

// readFile reads a token file. Only its owner may be able to read the file, with one
// exception: root owns the file, and its group is a group of this process. Kubernetes
// mounts Secrets in this way for a pod with fsGroup whose process is not root.
func readFile(name string) (Token, error) {
	f, info, err := openRegular(name, 0)
	if err != nil {
		return Token{}, exitcode.With(exitcode.Auth, err)
	}
	defer f.Close()
	if mode := info.Mode().Perm(); mode&0o077 != 0 && !(mode&0o037 == 0 && inOwnGroup(info)) {
		return Token{}, exitcode.With(exitcode.Auth, fmt.Errorf("%s has mode %#o, want 0600, or 0640 if root owns it and its group is this process's: others could read the token", name, mode))
	}
	b, err := io.ReadAll(io.LimitReader(f, maxTokenFile))
	if err != nil {
		return Token{}, exitcode.With(exitcode.Auth, err)
	}
	t, err := Parse(strings.TrimPrefix(string(b), "\ufeff")) // without a byte order mark
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// maxTokenFile bounds the bytes that readFile reads.
const maxTokenFile = 4 << 10

// openRegular opens a regular file for reading, with more flags. It does not wait for the
// writer of a pipe. The information is that of the open file: a link may lead elsewhere by
// now.
func openRegular(name string, flags int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file, want one", name)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// inOwnGroup reports whether root owns the file and its group is a group of this process.
func inOwnGroup(info fs.FileInfo) bool {
	owner := info.Sys().(*syscall.Stat_t)
	gid := int(owner.Gid)
	groups, err := os.Getgroups()
	return owner.Uid == 0 && (gid == os.Getegid() || err == nil && slices.Contains(groups, gid))
}

// WriteFile stores the token in the file name with mode 0600, and creates the folder of
// the file. If the file exists, WriteFile fails unless replace is true.
func (t Token) WriteFile(name string, replace bool) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return exitcode.With(exitcode.CannotCreate, err)
	}
	if replace {
		to, err := filepath.EvalSymlinks(name)
		if err == nil {
			name, err = to, os.Remove(to) // a link stays
		}
		if err != nil && !os.IsNotExist(err) {
			return exitcode.With(exitcode.CannotCreate, err)
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if old, fault := readFile(name); errors.Is(err, fs.ErrExist) && fault == nil {
		err = fmt.Errorf("%s has token %v already, want --force to replace it", name, old.ID())
	}
	if err != nil {
		return exitcode.With(exitcode.CannotCreate, err)
	}
	if _, err := f.WriteString(t.Reveal() + "\n"); err != nil {
		f.Close()
		return exitcode.With(exitcode.IO, err)
	}
	return exitcode.With(exitcode.IO, errors.Join(f.Sync(), f.Close())) // after a power failure nobody reads half a token
}
