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
// densely. Of a table of 200,000 rows, what a sum by rows took beside a dense one, in bytes and
// (over links in memory, on two busy cores) in time:
//
//	rows over all ranks     2 workers, width 1   width 9      4 workers, width 1   width 9
//	1/4 of the table's      0.14   0.57          0.12  0.52   0.18   0.62          0.15  0.20
//	1/2                     0.27   0.73          0.23  0.83   0.32   0.85          0.28  0.32
//	1                       0.61   0.82          0.51  1.74   0.54   0.99          0.46  0.82
//	2                       0.97   0.73          1.00  2.59   0.90   0.91          0.78  1.50
//	4                                                         0.94   0.71          0.99  0.71
//
// So at 2 a wire gains little by rows any more, and the cores that merge wide rows lose.
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
