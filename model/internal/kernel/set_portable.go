//go:build !amd64 || noasm

package kernel

// highest returns the only set of this build.
func highest() Set { return Portable }
