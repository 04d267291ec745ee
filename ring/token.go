package ring

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ringtrain/ring/exitcode"
)

// TokenBytes is the length of a token.
const TokenBytes = 32

// Token is the secret that the workers of a job share: who has it may connect.
// It is proved, never sent, and prints as "token(set)" or "token(none)". The
// zero Token means that there is none.
type Token struct {
	key [TokenBytes]byte
	set bool
}

// NewToken draws a token.
func NewToken() Token {
	t := Token{set: true}
	rand.Read(t.key[:]) // never fails
	return t
}

// ParseToken reads the 64 hexadecimal digits of a token, white space around
// them apart.
func ParseToken(s string) (Token, error) {
	b, err := hex.DecodeString(strings.TrimSpace(s))
	if err != nil || len(b) != TokenBytes {
		return Token{}, exitcode.With(exitcode.Auth, fmt.Errorf("token is not %d hexadecimal digits", 2*TokenBytes))
	}
	return Token{[TokenBytes]byte(b), true}, nil
}

// FindToken looks for the token of this user: in RINGTRAIN_TOKEN, in the file
// that RINGTRAIN_TOKEN_FILE names, in ringtrain/token of the user's
// configuration folder. With none of them it returns the zero Token.
func FindToken(getenv func(string) string) (Token, error) {
	if s := getenv("RINGTRAIN_TOKEN"); s != "" {
		t, err := ParseToken(s)
		if err != nil {
			return t, fmt.Errorf("RINGTRAIN_TOKEN: %w", err)
		}
		return t, nil
	}
	name := getenv("RINGTRAIN_TOKEN_FILE")
	if name == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return Token{}, nil // no home, no file
		}
		name = filepath.Join(dir, "ringtrain", "token")
		if _, err := os.Stat(name); os.IsNotExist(err) {
			return Token{}, nil
		}
	}
	return readToken(name)
}

// readToken reads a token file. Nobody but its owner may read it, apart from a group of this process where root
// owns the file: so Kubernetes gives Secrets to a pod with fsGroup, whose process is not root.
func readToken(name string) (Token, error) {
	f, err := os.Open(name)
	if err != nil {
		return Token{}, exitcode.With(exitcode.Auth, err)
	}
	defer f.Close()
	info, err := f.Stat() // of what is read, whatever a link leads to by now
	if err != nil {
		return Token{}, exitcode.With(exitcode.Auth, err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && !(mode&0o037 == 0 && isGroups(info)) {
		return Token{}, exitcode.With(exitcode.Auth, fmt.Errorf("%s has mode %#o, want 0600, or 0640 if root owns it and its group is this process's: others could read the token", name, mode))
	}
	b, err := io.ReadAll(io.LimitReader(f, maxTokenFile))
	if err != nil {
		return Token{}, exitcode.With(exitcode.Auth, err)
	}
	t, err := ParseToken(string(b))
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// maxTokenFile bounds what is read of a token file.
const maxTokenFile = 4 << 10

// Set tells whether there is a token.
func (t Token) Set() bool { return t.set }

// String hides the secret.
func (t Token) String() string {
	if t.set {
		return "token(set)"
	}
	return "token(none)"
}

// GoString hides the secret from %#v.
func (t Token) GoString() string { return t.String() }

// Reveal returns the hexadecimal digits, for the environment of a child and
// for the token file. They go nowhere else.
func (t Token) Reveal() string {
	if !t.set {
		return ""
	}
	return hex.EncodeToString(t.key[:])
}

// Prove returns the HMAC-SHA256 of the parts under the token, each part behind
// its length. Both sides of a handshake prove the token over both sides'
// nonces, so that a proof serves once and the token never travels. Workers
// without a token prove the zero key, which proves nothing: they listen on
// loopback only.
func (t Token) Prove(parts ...[]byte) [sha256.Size]byte {
	mac := hmac.New(sha256.New, t.key[:])
	for _, p := range parts {
		n := uint32(len(p))
		mac.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
		mac.Write(p)
	}
	return [sha256.Size]byte(mac.Sum(nil))
}

// Proves tells in constant time whether proof is the proof of the parts.
func (t Token) Proves(proof []byte, parts ...[]byte) bool {
	want := t.Prove(parts...)
	return subtle.ConstantTimeCompare(proof, want[:]) == 1
}

// WriteFile stores the token in the file that FindToken looks for, readable by
// its owner only. An existing file is an error unless replace is given.
func (t Token) WriteFile(name string, replace bool) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return exitcode.With(exitcode.CannotCreate, err)
	}
	if replace {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return exitcode.With(exitcode.CannotCreate, err)
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return exitcode.With(exitcode.CannotCreate, err)
	}
	if _, err := f.WriteString(t.Reveal() + "\n"); err != nil {
		f.Close()
		return exitcode.With(exitcode.IO, err)
	}
	return exitcode.With(exitcode.IO, f.Close())
}
