package main

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"ringtrain/ring/launch/process"
)

// asRingtrain makes this test binary act as ringtrain. The ranks of `run` are this
// binary again and inherit the variable, so whole jobs of real processes run without a
// separate build. The name lacks the prefix of ringtrain's variables, because unknown
// ones are errors.
const asRingtrain = "TEST_BINARY_IS_RINGTRAIN"

func TestMain(m *testing.M) {
	switch {
	case process.IsGuard():
		syscall.Exit(process.RunGuard()) // skip the race detector's second at exit
	case os.Getenv(asRingtrain) == "1" && os.Getenv(keyLimits) != "":
		os.Exit(mainWithKeys(os.Getenv(keyLimits)))
	case os.Getenv(asRingtrain) == "1":
		main() // exits
	case os.Getenv(asRingtrain) != "":
		fmt.Fprintf(os.Stderr, "%s is set: the tests set it for the processes that they start\n", asRingtrain)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
