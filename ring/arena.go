package ring

import (
	"context"
	"unsafe"
)

// Arena returns n zeros whose first element lies at the start of a cache line.
// Gradients belong there: buckets are slices of it, and on two levels the
// workers of a host read and write each other's in place, so that nothing is
// copied. They are valid until the group's Close.
//
// All ranks call it, with the same n and in the same order among the operations;
// there may be several arenas. Its errors are those of an operation.
func (g *Group) Arena(ctx context.Context, n int) ([]float32, error) {
	if g.host == nil {
		return alignedFloats(n), nil
	}
	if err := g.begin(ctx, opArena, n); err != nil {
		return nil, err
	}
	defer g.finish()
	return g.host.arena(n)
}

// arena makes one of n elements and returns this worker's part.
func (h *host) arena(n int) ([]float32, error) {
	note := h.g.notice()
	note.length = uint64(n)
	if err := h.meet(note); err != nil || n == 0 {
		return nil, err
	}
	h.g.waitFor(inside, h.step)
	parts, err := h.memory.Arena(h.g.op.ctx, n)
	if err != nil {
		return nil, h.g.fail(inside, h.step, err)
	}
	h.g.waitFor(nobody, h.step)
	h.arenas = append(h.arenas, parts)
	return parts[h.local], nil
}

// find returns the number of the arena that buf lies in, and where; -1: none.
func (h *host) find(buf []float32) (number, offset int) {
	at := addressOf(buf)
	for i, parts := range h.arenas {
		own := parts[h.local]
		offset := (at - addressOf(own)) / 4
		if offset < uintptr(len(own)) && int(offset)+len(buf) <= len(own) {
			return i, int(offset)
		}
	}
	return -1, 0
}

func addressOf(x []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// alignedFloats returns n zeros that begin at the start of a cache line.
func alignedFloats(n int) []float32 {
	a := make([]float32, n+lineElements)
	at := int(-addressOf(a)%arenaAlign) / 4
	return a[at : at+n : at+n]
}
