package input

import "io"

const (
	memoryBlock = 1 << 20 // length of the blocks of a Memory
	leastBlock  = 4 << 10 // minimum length of the first block
)

// Memory stores the content of a file in blocks. It grows with the received bytes and
// trusts no declared length. It copies only the first block, and takes at most twice the
// content or one additional block. The zero Memory is empty.
type Memory struct {
	blocks [][]byte
	size   int64
}

// Size returns the number of stored bytes.
func (m *Memory) Size() int64 { return m.size }

// ReadFrom appends the content of r, as io.ReaderFrom specifies.
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

// room returns space for the next bytes, at least one.
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

// View returns the contiguous bytes from off on, at least one. The caller must not
// change them. View panics if off is not in [0, Size).
func (m *Memory) View(off int64) []byte {
	if off < 0 || off >= m.size {
		panic("input: view outside the memory")
	}
	at := off / memoryBlock * memoryBlock
	return m.blocks[off/memoryBlock][off-at : min(m.size-at, memoryBlock)]
}

// ReadAt copies bytes from off on to p, as io.ReaderAt specifies.
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
