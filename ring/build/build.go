// Package build identifies the build of a worker's program. Only workers of one build may be in
// one job: another build may send, sum or round with other bits.
//
// A version is not enough: a program that is built without one has the default version. So a
// build is
//
//	0.1.0 linux/amd64 5d2a0c9be1f04377 8c1f0a2b9d3e
//	version  platform  hash of the program  commit, or - if it is unknown or was modified
//
// On one platform the hashes must be equal. Copies of one program have the same hash, and so
// have programs built in the same way from one commit (make build is reproducible). Programs of
// different platforms cannot have equal hashes, so their versions and commits must be equal.
package build

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// unknown stands for an unknown part of a build.
const unknown = "-"

// Current returns the build of this process's program with the given version.
func Current(version string) string {
	return fmt.Sprintf("%s %s/%s %s %s", strings.ReplaceAll(version, " ", "_"), runtime.GOOS, runtime.GOARCH, program(), commit())
}

// Same reports whether workers of builds a and b may be in one job. Malformed builds must be equal.
func Same(a, b string) bool {
	if a == b {
		return true
	}
	one, other := strings.Fields(a), strings.Fields(b)
	return len(one) == 4 && len(other) == 4 && one[0] == other[0] && one[1] != other[1] && one[3] == other[3] && one[3] != unknown
}

// program returns the hash of this process's program: of the build id that Go's linker has
// computed from its contents, or of the whole file if there is none.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return unknown
	}
	if runtime.GOOS == "linux" {
		path = "/proc/self/exe" // works even if the file was replaced since
	}
	h := sha256.New()
	if id := linkerID(path); len(id) > 0 {
		h.Write(id)
		return hex.EncodeToString(h.Sum(nil)[:8])
	}
	f, err := os.Open(path)
	if err != nil {
		return unknown
	}
	defer f.Close()
	if _, err := io.Copy(h, f); err != nil {
		return unknown
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// linkerID returns the ELF note with the linker's build id, header included, or nil.
func linkerID(path string) []byte {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	s := f.Section(".note.go.buildid")
	if s == nil || s.Size > 4<<10 {
		return nil
	}
	note, err := s.Data()
	const header = 16 // lengths of name and id, type, "Go\0\0"
	if err != nil || len(note) <= header {
		return nil
	}
	return note
}

// commit returns the first digits of the commit from which the program was built.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	revision, changed := unknown, false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			changed = s.Value != "false"
		}
	}
	if changed || revision == "" {
		return unknown
	}
	return revision
}
