package main

import (
	"os"
	"testing"
)

// The tests TestAttack… attack jobs of real processes as strangers, men in the middle and other
// users do. Each has a share in `make check-long`. In full, with tables of what was seen:
//
//	make attacks
//	RINGTRAIN_ATTACKS=1 go test -v -run TestAttackSecret ./cmd/ringtrain

// attacks reports whether the attacks run in full. Under -short it skips the test.
func attacks(t *testing.T) bool {
	t.Helper()
	if os.Getenv("RINGTRAIN_ATTACKS") != "" {
		return true
	}
	long(t)
	return false
}
