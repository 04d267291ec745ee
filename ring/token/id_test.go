package token_test

import (
	"testing"

	"ringtrain/ring/token"
)

// TestID verifies the id of a known token, which HMAC-SHA256 of another program gave, that
// tokens have different ids, and that the zero token has none.
func TestID(t *testing.T) {
	secret, err := token.Parse(digits)
	if err != nil {
		t.Fatal(err)
	}
	if got := secret.ID().String(); got != "e61bdb24" {
		t.Errorf("the id is %s, want e61bdb24", got)
	}
	if a, b := token.New().ID(), token.New().ID(); a == b {
		t.Errorf("two tokens have the id %v", a)
	}
	if got := (token.Token{}).ID(); got != (token.ID{}) || got.String() != "none" {
		t.Errorf("the id of the zero token is %v, want none", got)
	}
}
