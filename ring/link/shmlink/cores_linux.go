package shmlink

// Cores returns the number of cores that the workers may use together, the union of their
// affinities, or 0 if it is unknown. It may be called at any time. See ring.Group.Cores.
func (m *memory) Cores() int { return int(m.cores.Load()) }
