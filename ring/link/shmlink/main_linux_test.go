package shmlink

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the main of the workers that tests start as processes.
func TestMain(m *testing.M) {
	if s := os.Getenv(workerVariable); s != "" {
		os.Exit(workerMain(s))
	}
	goleak.VerifyTestMain(m)
}
