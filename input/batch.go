package input

import "ringtrain/model/tensor"

// Batch is one rank's share of a global batch. Its buffers belong to the
// caller of Source.Next until the next call with the same Batch, which takes
// them back and gives others: views into them end there.
type Batch struct {
	X      tensor.Features
	Y      []float32 // label of each example: a class, 0 or 1, or a value
	Weight []float32 // what each example's loss counts in the gradient

	// Importance is the weight that the records themselves give to the examples. Those
	// behind its end have 1. Source.Next has multiplied Weight by it.
	Importance []float32

	Bad   int   // examples whose records are bad; see SourceConfig.MaxBad
	Fault error // of the first of them

	Keys []string // key column of each example, where the data set was opened to tell it

	Epoch  int64 // epoch of the global batch, from 0
	Offset int64 // records of the epoch before the global batch
	Global int   // examples in the global batch, over all ranks
	First  int   // place of the first example here in the global batch
}

// Reset empties b and keeps its memory.
func (b *Batch) Reset() {
	b.X.Dense.Rows, b.X.Dense.Data = 0, b.X.Dense.Data[:0]
	b.X.Bags.Reset(b.X.Bags.Fields)
	b.Y, b.Weight, b.Importance, b.Keys = b.Y[:0], b.Weight[:0], b.Importance[:0], b.Keys[:0]
	b.Bad, b.Fault = 0, nil
}

// Dataset gives random access to the records of a list of files.
// Its methods may be called from several goroutines.
type Dataset interface {
	// Len returns the number of records.
	Len() int

	// Append adds record i, features and label, to the end of b.X and b.Y. It
	// leaves b.Weight alone. An error names file, record and offset and carries
	// an exit code.
	Append(b *Batch, i int) error

	// Features returns the columns of dense features, or one more than the
	// largest id of sparse ones.
	Features() int

	// Manifest returns one line a file, "name bytes records", without folders:
	// what all ranks must have equal.
	Manifest() []string

	// Close releases the files.
	Close() error
}

// InMemory reports whether Append of d only copies or converts what lies in memory, at least
// after the first record of a file: then it never waits, and to read ahead of the step costs more
// than it saves where there is no core to spare.
func InMemory(d Dataset) bool {
	m, ok := d.(interface{ InMemory() bool })
	return ok && m.InMemory()
}

// Many is a Dataset that adds many records faster in one call.
type Many interface {
	// AppendAll adds records in their order, as Append does each.
	AppendAll(b *Batch, records []int) error
}

// AppendRecords adds records of d in their order. Memory for their numbers is the
// caller's.
func AppendRecords(b *Batch, d Dataset, records []int) error {
	if many, ok := d.(Many); ok {
		return many.AppendAll(b, records)
	}
	for _, i := range records {
		if err := d.Append(b, i); err != nil {
			return err
		}
	}
	return nil
}

// Position is a place in the training data: the number of whole epochs and the
// records of the current one that all ranks together have consumed.
type Position struct {
	Epoch  int64 `json:"epoch"`
	Offset int64 `json:"offset"`
}

// Labels says which labels are right.
type Labels struct {
	Classes int  // > 0: a class in [0, Classes)
	Binary  bool // 0 or 1; −1 means 0

	// Absent says that records may have no label, as those to be predicted have
	// none; they get 0.
	Absent bool
	// neither: any finite value
}
