//go:build !linux

package doctor

// limits are not known here.
func (h *Host) limits() { h.SharedMemory = "not on this system" }

// room is not known here: as much as there can be.
func room(string) (int64, error) { return 1<<63 - 1, nil }
