// Package token holds the secret that the workers of a job share.
//
// A worker proves that it knows the token; the token itself never travels. The
// command `ringtrain run` draws a token for each job, and gives the ranks a file of it
// ([Token.Hold]). A user who starts ranks by other means stores one in a file: see
// [Find] for the places. Without any, the processes of one user on one host share the
// local token ([Local]).
//
// # Runtime folder
//
// Files of running processes lie in a folder that only their user can read ([Folder]):
//
//	/tmp/ringtrain-UID/ringtrain/             else in /dev/shm
//	├── local.token                           the user's local token
//	├── 4711-9f86d081884c7d65.token           of the job of process 4711
//	└── 4711-2c26b46b68ffc68f.job             what package joblist knows of it
//
// A process holds a lock on its files. The next process that holds a file removes those of
// dead processes. /tmp is cleaned by age, so a process renews the times of its files.
//
// # Exchange
//
// One exchange begins every connection: links, control, status, questions for an owner, shared memory.
// The dialer sends a [Request], the acceptor an [Answer], and each the HMAC-SHA256, with the token as
// the key, of the channel and of what it says ([Token.Prove]). The channel is what the connection has
// alone: the exporter of TLS, or in clear the nonces of both. A proof therefore serves on one
// connection only, and who relays it to another one proves nothing. ring/PROTOCOL.md has the bytes.
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
	"fmt"
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

// ParseRevealed reads what Reveal returns: "" is the zero Token.
func ParseRevealed(s string) (Token, error) {
	if s == "" {
		return Token{}, nil
	}
	return Parse(s)
}

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
// its length. Both sides of an exchange include the channel, so a proof serves
// once. The zero Token uses a key of zeros, which proves nothing: only --insecure asks for it.
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
