// Package token holds the secret that the workers of a job share.
//
// A worker proves that it knows the token; the token itself never travels. The
// command `ringtrain run` draws a token for each job and passes it to the ranks in
// the environment. A user who starts ranks by other means stores one in a file:
// see [Find] for the places.
//
// # Proof
//
// Two processes that meet exchange nonces, and each sends the HMAC-SHA256 of both
// nonces and of what it claims, with the token as the key ([Token.Prove]). The other
// one compares in constant time ([Token.Proves]). A proof therefore serves once.
//
// # Errors
//
// An error about a token carries [exitcode.Auth] and never repeats the secret.
package token

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ringtrain/ring/exitcode"
)

// Bytes is the length of a token.
const Bytes = 32

// Token is the secret that the workers of a job share. Only a process that knows the
// token may connect. A Token prints as "token(set)" or "token(none)". The zero Token
// means that the job has none.
type Token struct {
	key [Bytes]byte
	set bool
}

// New returns a random token.
func New() Token {
	t := Token{set: true}
	rand.Read(t.key[:]) // never fails
	return t
}

// Parse reads a token of 64 hexadecimal digits. It ignores white space around them.
func Parse(s string) (Token, error) {
	b, err := hex.DecodeString(strings.TrimSpace(s))
	if err != nil || len(b) != Bytes {
		return Token{}, exitcode.With(exitcode.Auth, fmt.Errorf("token is not %d hexadecimal digits", 2*Bytes))
	}
	return Token{[Bytes]byte(b), true}, nil
}

// Find returns the token of this user. It looks in three places and takes the first
// that is set: the variable RINGTRAIN_TOKEN, the file that RINGTRAIN_TOKEN_FILE names,
// and the file ringtrain/token in the user's configuration folder. It returns the zero
// Token if none is set.
func Find(getenv func(string) string) (Token, error) {
	if s := getenv("RINGTRAIN_TOKEN"); s != "" {
		t, err := Parse(s)
		if err != nil {
			return t, fmt.Errorf("RINGTRAIN_TOKEN: %w", err)
		}
		return t, nil
	}
	name := getenv("RINGTRAIN_TOKEN_FILE")
	if name == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return Token{}, nil // no home folder
		}
		name = filepath.Join(dir, "ringtrain", "token")
		if _, err := os.Stat(name); os.IsNotExist(err) {
			return Token{}, nil
		}
	}
	return readFile(name)
}

// readFile reads a token file. Only its owner may be able to read the file, with one
// exception: root owns the file, and its group is a group of this process. Kubernetes
// mounts Secrets in this way for a pod with fsGroup whose process is not root.
func readFile(name string) (Token, error) {
	f, err := os.Open(name)
	if err != nil {
		return Token{}, exitcode.With(exitcode.Auth, err)
	}
	defer f.Close()
	info, err := f.Stat() // of the open file: a link may lead elsewhere by now
	if err != nil {
		return Token{}, exitcode.With(exitcode.Auth, err)
	}
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

// Set reports whether t is a token and not the zero Token.
func (t Token) Set() bool { return t.set }

// String returns "token(set)" or "token(none)". It hides the secret.
func (t Token) String() string {
	if t.set {
		return "token(set)"
	}
	return "token(none)"
}

// GoString hides the secret from %#v.
func (t Token) GoString() string { return t.String() }

// Reveal returns the hexadecimal digits of the secret, "" for the zero Token. Callers
// pass them to the environment of a child or to the token file only.
func (t Token) Reveal() string {
	if !t.set {
		return ""
	}
	return hex.EncodeToString(t.key[:])
}

// Prove returns the HMAC-SHA256 of the parts, keyed with the token. Each part follows
// its length. Both sides of a handshake include both sides' nonces, so a proof serves
// once. The zero Token uses a key of zeros, which proves nothing: workers without a
// token listen on loopback only.
func (t Token) Prove(parts ...[]byte) [sha256.Size]byte {
	mac := hmac.New(sha256.New, t.key[:])
	for _, p := range parts {
		n := uint32(len(p))
		mac.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
		mac.Write(p)
	}
	return [sha256.Size]byte(mac.Sum(nil))
}

// Proves reports whether proof is the proof of the parts. It compares in constant time.
func (t Token) Proves(proof []byte, parts ...[]byte) bool {
	want := t.Prove(parts...)
	return subtle.ConstantTimeCompare(proof, want[:]) == 1
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
	return exitcode.With(exitcode.IO, f.Close())
}
