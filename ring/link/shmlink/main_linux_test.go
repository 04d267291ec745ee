package shmlink

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or the main function of a worker that a test started as a process.
func TestMain(m *testing.M) {
	if s := os.Getenv(workerVariable); s != "" {
		os.Exit(workerMain(s))
	}
	goleak.VerifyTestMain(m)
}
