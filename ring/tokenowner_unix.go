//go:build unix

package ring

import (
	"os"
	"slices"
	"syscall"
)

// isGroups reports whether root owns a file, and its group is one of this process's.
func isGroups(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid != 0 {
		return false
	}
	gid := int(owner.Gid)
	groups, err := os.Getgroups()
	return gid == os.Getegid() || err == nil && slices.Contains(groups, gid)
}
