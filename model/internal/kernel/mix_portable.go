//go:build !amd64 || noasm

package kernel

func (s Set) mixRows(ids []uint32, w []float32, width int) uint64 { return mixRows(ids, w, width) }
