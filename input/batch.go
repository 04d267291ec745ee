package input

import "ringtrain/model/tensor"

// Batch is one rank's share of a global batch. The caller of Source.Next may use its
// buffers until the next call with the same Batch, which replaces them.
type Batch struct {
	X      tensor.Features
	Y      []float32 // label of each example: a class, 0 or 1, or a value
	Weight []float32 // weight of each example's loss in the gradient

	// Importance has the weights of the examples in the records. Examples beyond its end
	// have weight 1. Source.Next has already multiplied Weight by it.
	Importance []float32

	Bad   []int // places of the bad records in the rank's share of records; see SourceConfig.MaxBad
	Lost  int   // how many records the bad ones take away, see Lost
	Fault error // error of the first bad record

	Columns Counts // of the records, apart from labels

	// WantKeys has the data set put the key columns into Keys: KeyColumns of each example. Examples beyond the end of
	// Keys have none. Source.Next reads no keys.
	WantKeys   bool
	Keys       []string
	KeyColumns int

	Epoch  int64 // epoch of the global batch, from 0
	Offset int64 // records of the epoch before the global batch
	Global int   // examples in the global batch, over all ranks
	First  int   // position of the first example in the global batch
}

// Reset removes all examples of b and keeps its memory.
func (b *Batch) Reset() {
	b.X.Dense.Rows, b.X.Dense.Data = 0, b.X.Dense.Data[:0]
	b.X.Bags.Reset(b.X.Bags.Fields)
	b.Y, b.Weight, b.Importance, b.Keys = b.Y[:0], b.Weight[:0], b.Importance[:0], b.Keys[:0]
	b.Columns.Reset()
	b.Bad, b.Lost, b.Fault = b.Bad[:0], 0, nil
}

// Dataset gives random access to the records of a list of files. Several goroutines may
// call its methods.
type Dataset interface {
	// Facts returns what is known of the records.
	Facts() Facts

	// Append adds records in their order, features and label, to b.X and b.Y. It does not
	// change b.Weight. An error names file, record and offset and carries an exit code.
	Append(b *Batch, records ...int) error

	// Close releases the files.
	Close() error
}

// Position is a position in the training data: the number of whole epochs, and the
// records of the current epoch that all ranks together have consumed.
type Position struct {
	Epoch  int64 `json:"epoch"`
	Offset int64 `json:"offset"`
}

// Labels describes the valid labels.
type Labels struct {
	Names   *Classes // instead of Classes and Binary: a class by its name, a text or a number; nil: they have none
	Classes int      // > 0: a class in [0, Classes)
	Binary  bool     // 0 or 1; −1 means 0

	// Absent is for predictions: records need neither a label nor a weight. Readers do not look at one
	// that is there; the label is 0, the weight 1.
	Absent bool

	// Why completes the error of a class that is none.
	Why string
	// without Classes and Binary: any finite value
}
