//go:build !unix

package ring

import "os"

func isGroups(os.FileInfo) bool { return false }
