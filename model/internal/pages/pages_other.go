//go:build !linux

package pages

func (f *Floats) fromSystem(int) bool { return false }

func drop([]byte) bool { return false }

func release([]byte) {}
