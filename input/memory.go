package input

import "io"

const (
	memoryBlock = 1 << 20 // length of the blocks of a Memory
	leastBlock  = 4 << 10 // of the first one, as long as it has no more
)

// Memory holds the contents of a file in blocks. It grows with what really
// arrives: it trusts no length, copies the first block alone, and takes at most
// twice its contents, or one block more. The zero Memory is empty.
type Memory struct {
	blocks [][]byte
	size   int64
}

// Size returns the number of bytes held.
func (m *Memory) Size() int64 { return m.size }

// ReadFrom adds everything that r has, as io.ReaderFrom says.
func (m *Memory) ReadFrom(r io.Reader) (int64, error) {
	before := m.size
	for {
		n, err := r.Read(m.room())
		m.size += int64(n)
		if err == io.EOF {
			return m.size - before, nil
		}
		if err != nil {
			return m.size - before, err
		}
	}
}

// room returns where the next bytes go, at least one.
func (m *Memory) room() []byte {
	if m.size == int64(len(m.blocks))*memoryBlock {
		n := memoryBlock
		if m.size == 0 {
			n = leastBlock
		}
		m.blocks = append(m.blocks, make([]byte, n))
	}
	last := &m.blocks[len(m.blocks)-1]
	used := int(m.size % memoryBlock)
	if used == len(*last) {
		*last = append(*last, make([]byte, used)...)[:2*used]
	}
	return (*last)[used:]
}

// View returns the bytes from off on that lie in one piece, at least one. They
// must not be changed. It panics if off is not in [0, Size).
func (m *Memory) View(off int64) []byte {
	if off < 0 || off >= m.size {
		panic("input: view outside the memory")
	}
	at := off / memoryBlock * memoryBlock
	return m.blocks[off/memoryBlock][off-at : min(m.size-at, memoryBlock)]
}

// ReadAt copies what is held at off to p, as io.ReaderAt says.
func (m *Memory) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off+int64(n) < m.size {
		n += copy(p[n:], m.View(off+int64(n)))
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
