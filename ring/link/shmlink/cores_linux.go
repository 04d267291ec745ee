package shmlink

// Cores returns how many cores the workers may use together: those that any of
// them is bound to, 0 if the kernel does not tell. It may be
// called at any time. See ring.Group.Cores.
func (m *memory) Cores() int { return int(m.cores.Load()) }
