//go:build !amd64 || noasm

package kernel

// micro runs the set's micro-kernel.
func (e *Engine) micro(t *tile) { tilePortable(t) }
