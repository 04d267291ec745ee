package launch

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
)

// pushedProgram is this program as a host stores it after a push: in
// ~/.cache/ringtrain/bin/<sha256>/ringtrain. The name is the hash of the content, so a
// stored program needs no other check, and versions do not collide.
type pushedProgram struct {
	path string
	hash string
}

// hashSelf hashes the program at path.
func hashSelf(path string) (pushedProgram, error) {
	f, err := os.Open(path)
	if err != nil {
		return pushedProgram{}, fmt.Errorf("push: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return pushedProgram{}, fmt.Errorf("push: %s: %w", path, err)
	}
	return pushedProgram{path, hex.EncodeToString(h.Sum(nil))}, nil
}

// folder returns the folder of the program, quoted for a shell.
func (p pushedProgram) folder() string { return `"$HOME/.cache/ringtrain/bin/` + p.hash + `"` }

// agentLine returns the shell line that becomes the pushed agent. The line ends with 127 if
// the program is not there.
func (p pushedProgram) agentLine() string {
	return shLine(`p=` + p.folder() + `/ringtrain; test -x "$p" -a -s "$p" || ` + exitAbsent + `; exec "$p" agent`)
}

// copyLine returns the shell line that stores the program from standard input. Until the
// program is complete, it has a name that only this line uses: hosts may share a home, and
// two shells with the same pid may push at the same time.
func (p pushedProgram) copyLine() string {
	return shLine(`set -e; umask 077; s=$(uname -sm); ` +
		`if test "$s" != "` + unixName(runtime.GOOS, runtime.GOARCH) + `"; then ` +
		`echo "the host is $s, this program is for ` + unixName(runtime.GOOS, runtime.GOARCH) + `" >&2; exit 126; fi; ` +
		`d=` + p.folder() + `; mkdir -p "$d"; t="$d/part.` + rand.Text() + `"; trap "rm -f \"$t\"" EXIT; cat >"$t"; ` +
		`h=$( (sha256sum || shasum -a 256) 2>/dev/null <"$t"); h=${h%% *}; ` +
		`if test "$h" != ` + p.hash + `; then echo "the copy has the hash $h, want ` + p.hash + `" >&2; exit 74; fi; ` +
		`chmod 755 "$t"; sync "$t" 2>/dev/null || sync; mv -f "$t" "$d/ringtrain"`)
}

// unixName returns the output of uname -sm on a platform.
func unixName(goos, goarch string) string {
	system := map[string]string{"linux": "Linux", "darwin": "Darwin", "freebsd": "FreeBSD"}[goos]
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[goarch]
	if goos == "darwin" && goarch == "arm64" {
		machine = "arm64"
	}
	if system == "" || machine == "" {
		return goos + " " + goarch
	}
	return system + " " + machine
}

// copy copies the program to a host. If this process dies meanwhile, g ends the copy.
func (p pushedProgram) copy(ctx context.Context, ssh []string, host string, g *process.GuardProcess) error {
	f, err := os.Open(p.path)
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	defer f.Close()
	said := new(tailBuffer)
	h := process.NewCommand(sshLine(ssh, host, p.copyLine()), said, g)
	if err := h.Start(f); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, h.Kill)
	defer stop()
	code := h.Wait()
	switch code {
	case exitcode.OK:
		return nil
	case exitcode.NotRunnable, exitcode.IO:
	case sshFailed, -1:
		return unreachable(host, said, context.Cause(ctx))
	default:
		code = exitcode.CannotCreate
	}
	return exitcode.With(code, fmt.Errorf("push to host %s: %s", host, said.last()))
}
