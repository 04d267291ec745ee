package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestInteropARM64 verifies that the arm64 binary, under QEMU, trains to the digest of this
// machine's portable kernels, and that the portable tests of arithmetic and formats pass there.
func TestInteropARM64(t *testing.T) {
	qemu := program(t, "qemu-aarch64-static", "qemu-user-static")
	b := newBox(t)
	build := func(args ...string) {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v:\n%s", args, err, out)
		}
	}
	build("build", "-o", b.path("ringtrain-arm64"), ".")
	args := []string{"train", "mnist", "--set", "input.synthetic=true", "--set", "train.steps=50", "--set", "train.kernels=portable"}
	there := b.startWithin(5*time.Minute, qemu, append([]string{b.path("ringtrain-arm64")}, args...)...).wait()
	here := b.must(0, append(args, "--resume", "never")...)
	if there.code != 0 || there.stderr != here.stderr || !strings.HasPrefix(here.stderr, "digest=") {
		t.Errorf("arm64 ends with %d and %q, want %q\n%s", there.code, there.stderr, here.stderr, there.stdout)
	}
	build("test", "-short", "-vet=off", "-exec", qemu, "ringtrain/ring/internal/vec", "ringtrain/ring/codec", "ringtrain/model/optimizer",
		"ringtrain/input/internal/pixel", "ringtrain/input/libsvm")
}
