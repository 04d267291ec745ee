package shmlink

import (
	"context"
	"testing"
	"time"

	"ringtrain/ring/token"
)

// TestMemoryStranger verifies that a process with another token that takes the
// leader's place for a while does not end a member: the name of the socket is no secret.
func TestMemoryStranger(t *testing.T) {
	m, secret := memberships(t.Name(), 2), token.New()
	met := make(chan error, 1)
	go func() {
		mem, err := open(testContext(t), t, m[1], Config{Token: secret})
		if err == nil {
			err = mem.Close()
		}
		met <- err
	}()
	strange, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := open(strange, t, m[leader], Config{Token: token.New()}); err == nil {
		t.Fatal("the member believes a stranger")
	}
	select {
	case err := <-met:
		t.Fatalf("the stranger's answer ends the member: %v", err)
	default:
	}
	mem, err := open(testContext(t), t, m[leader], Config{Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	mem.Close()
	if err := <-met; err != nil {
		t.Error(err)
	}
}
