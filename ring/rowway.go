package ring

// A RowWay is how a table's sum goes between workers that share no memory.
type RowWay uint8

// The ways.
const (
	ByRows  RowWay = iota // ids and their values
	ByDense               // the whole table, by all-reduce, with a bit for each row
)

func (w RowWay) String() string {
	if w == ByDense {
		return "dense"
	}
	return "rows"
}

// denseFrom is how many times its rows a table must be met with, over all ranks, to go
// densely.
const denseFrom = 2

// WayOfRows returns how a table goes that all ranks together have so many rows of, an id
// counted on each that has it. It depends on nothing else, so all ranks agree, and a run
// that is resumed goes as the one that was not.
func WayOfRows(t Table, rows int64) RowWay {
	if rows >= denseFrom*int64(t.Rows) {
		return ByDense
	}
	return ByRows
}
