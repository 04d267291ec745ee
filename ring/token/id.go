package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// ID tells two tokens apart. It reveals nothing of the token, so messages and strangers may
// have it. The zero ID is that of the zero Token.
type ID [4]byte

// idLabel is what the token authenticates to make its ID.
const idLabel = "ringtrain token id"

// ID returns the first bytes of HMAC-SHA256(token, "ringtrain token id").
func (t Token) ID() ID {
	if !t.set {
		return ID{}
	}
	mac := hmac.New(sha256.New, t.key[:])
	mac.Write([]byte(idLabel))
	return ID(mac.Sum(nil)[:len(ID{})])
}

// String returns 8 hexadecimal digits, or "none" for the ID of the zero Token.
func (id ID) String() string {
	if id == (ID{}) {
		return "none"
	}
	return hex.EncodeToString(id[:])
}
