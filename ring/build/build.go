// Package build tells apart the programs that workers are of: only workers of one build may be in one job, for
// what another one sends, sums or rounds may differ by a bit.
//
// A version alone does not tell: who builds without stamping one has the default's. So a build is
//
//	0.1.0 linux/amd64 5d2a0c9be1f04377 8c1f0a2b9d3e
//	version  platform  hash of the program  commit, or - if it is not known or was changed
//
// On one platform the hashes must be equal: copies of one program have the same, and so have programs that
// are built in the same way from one commit (make build is reproducible). Between platforms, whose programs
// cannot be equal, versions and commits must be.
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

// unknown stands for what is not known of a build.
const unknown = "-"

// Own is the build of this process's program, which says that it is of a version.
func Own(version string) string {
	return fmt.Sprintf("%s %s/%s %s %s", strings.ReplaceAll(version, " ", "_"), runtime.GOOS, runtime.GOARCH, program(), commit())
}

// Same reports whether workers of two builds may be in one job. What is no build is compared as it is.
func Same(a, b string) bool {
	if a == b {
		return true
	}
	one, other := strings.Fields(a), strings.Fields(b)
	return len(one) == 4 && len(other) == 4 && one[0] == other[0] && one[1] != other[1] && one[3] == other[3] && one[3] != unknown
}

// program is the hash of this process's program: of the id that Go's linker has given it, which is by what is in it, or of the
// whole file where that has none.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return unknown
	}
	if runtime.GOOS == "linux" {
		path = "/proc/self/exe" // also where the file was replaced since
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

// linkerID is the note with the linker's id, header included; nil where a program has none.
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

// commit is the first digits of the commit that the program is of.
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
