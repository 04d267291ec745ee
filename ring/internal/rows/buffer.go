package rows

// Buffer collects rows. It appends to the memory that Reset gave it until that is full, then
// moves the rows to private memory.
type Buffer struct {
	memory Run
	n      int // rows so far
	moved  bool
}

// Reset empties b and makes it append to memory.
func (b *Buffer) Reset(memory Run) { *b = Buffer{memory: memory} }

// Clear empties b. It keeps the memory.
func (b *Buffer) Clear() { b.n = 0 }

// Len returns the number of rows.
func (b *Buffer) Len() int { return b.n }

// Memory returns the memory of b, with room for Memory().Len() rows.
func (b *Buffer) Memory() Run { return b.memory }

// Moved reports whether b has moved its rows from the memory that Reset gave it.
func (b *Buffer) Moved() bool { return b.moved }

// Rows returns the rows.
func (b *Buffer) Rows(width int) Run { return b.memory.Cut(0, b.n, width) }

// grow makes room for n more rows.
func (b *Buffer) grow(n, width int) {
	if b.n+n <= len(b.memory.IDs) {
		return
	}
	larger := Make(2*(b.n+n), width)
	Copy(larger, b.Rows(width))
	b.memory, b.moved = larger, true
}

// free returns the memory behind the last row.
func (b *Buffer) free(width int) Run { return b.memory.Cut(b.n, len(b.memory.IDs), width) }

// Append appends the rows of r.
func (b *Buffer) Append(r Run, width int) {
	b.grow(len(r.IDs), width)
	Copy(b.memory.Cut(b.n, b.n+len(r.IDs), width), r)
	b.n += len(r.IDs)
}

// AppendSum appends the sum of the sources of m.
func (b *Buffer) AppendSum(m *Merger, width int) {
	total := 0
	for _, s := range m.Sources {
		total += len(s.IDs)
	}
	b.grow(total, width)
	b.n += m.merge(b.free(width), width)
}

// Join adds two runs of which one is there and the other arrives in pieces.
type Join struct {
	own   Run  // rows of the run that is there, less those added
	first bool // own is the left operand of each addition
}

// NewJoin returns a Join of own with pieces to come. If first is true then own is the left
// operand of each addition.
func NewJoin(own Run, first bool) Join { return Join{own, first} }

// Add appends to b the sum of piece and of the own rows up to the last id of piece.
func (j *Join) Add(b *Buffer, piece Run, width int) {
	b.grow(len(j.own.IDs)+len(piece.IDs), width)
	var fromOwn, fromPiece, n int
	if j.first {
		fromOwn, fromPiece, n = mergePair(b.free(width), j.own, piece, width)
	} else {
		fromPiece, fromOwn, n = mergePair(b.free(width), piece, j.own, width)
	}
	j.own = j.own.Cut(fromOwn, len(j.own.IDs), width)
	b.n += n
	if fromPiece < len(piece.IDs) { // no own rows are left
		b.Append(piece.Cut(fromPiece, len(piece.IDs), width), width)
	}
}

// End appends the own rows that are left. No piece may follow.
func (j *Join) End(b *Buffer, width int) {
	b.Append(j.own, width)
	j.own = Run{}
}
