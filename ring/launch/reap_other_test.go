//go:build !linux

package launch

// becomeReaper does nothing: this system has no such processes.
func becomeReaper() {}
