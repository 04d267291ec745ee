//go:build unix

package token

import (
	"os"
	"slices"
	"syscall"
)

// inOwnGroup reports whether root owns the file and its group is a group of this process.
func inOwnGroup(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid != 0 {
		return false
	}
	gid := int(owner.Gid)
	groups, err := os.Getgroups()
	return gid == os.Getegid() || err == nil && slices.Contains(groups, gid)
}
