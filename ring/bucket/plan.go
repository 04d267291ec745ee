package bucket

import (
	"errors"
	"slices"

	"ringtrain/ring/exitcode"
)

// ExactBelowBytes is the size below which every variable is exact. A codec saves little there,
// and beside large values it may round a small variable to zero.
const ExactBelowBytes = 4 << 10

// FirstBucketBytes is the size from which the first bucket is full, if buckets are larger. The
// exchange then begins earlier, and more of backward is left to hide it.
const FirstBucketBytes = 1 << 20

// A Variable describes a trainable tensor to the plan.
type Variable struct {
	Name  string
	Len   int  // elements
	Exact bool // no lossy codec may touch it: a bias, a norm

	// The shape of a matrix, row by row; 0 and 0 of anything else.
	Rows, Cols int

	// ByRows marks a matrix of which a step touches few rows. It lies in no bucket, and no
	// codec touches it. Its rows are summed with the bucket that leaves last. All such
	// variables have equal Rows.
	ByRows bool
}

// A kind is the property that the variables of a bucket share.
type kind int

const (
	lossyKind kind = iota // a codec may touch them
	exactKind             // no codec that loses something
	kinds
)

func (v Variable) kind() kind {
	if v.Exact || 4*v.Len < ExactBelowBytes {
		return exactKind
	}
	return lossyKind
}

// A Span is the place of a variable in its bucket.
type Span struct {
	Variable int // index in forward order
	Offset   int // elements from the start of the bucket
	Len      int // elements
}

// A Bucket is a piece of the arena that is reduced by one operation.
type Bucket struct {
	Exact  bool
	Offset int // elements from the start of the arena, at a cache line
	Len    int // elements
	Spans  []Span
	Tables []int // variables by rows, from the last to the first, that are summed with it
}

// A Plan gives each gradient its place and the buckets their order.
type Plan struct {
	Buckets []Bucket
	Len     int // elements of the arena, gaps between buckets included
}

// cacheLine is a cache line in elements. Buckets begin at multiples of it.
const cacheLine = 16

// NewPlan plans buckets for variables in forward order.
//
// It goes through the variables from the last to the first and fills up to two buckets at a
// time: one for exact variables and one for the rest. A variable lies whole in one bucket. A
// bucket takes variables until it has bucketBytes, the first bucket of each kind until it has
// FirstBucketBytes. Buckets leave in the order in which backward completes them. If there are
// variables by rows, the exact bucket that is not full, which may be empty, leaves last, with
// them.
//
// A model without variables is exitcode.Usage.
func NewPlan(vars []Variable, bucketBytes int) (Plan, error) {
	if len(vars) == 0 {
		return Plan{}, exitcode.With(exitcode.Usage, errors.New("the model has no variables, want 1 or more"))
	}
	var full []Bucket
	var open [kinds]Bucket
	var begun [kinds]bool // a bucket of the kind is full
	var tables []int
	for i, v := range slices.Backward(vars) {
		if v.ByRows {
			tables = append(tables, i)
			continue
		}
		k := v.kind()
		b := &open[k]
		b.Exact = k == exactKind
		b.Spans = append(b.Spans, Span{i, b.Len, v.Len})
		b.Len += v.Len
		enough := bucketBytes
		if !begun[k] {
			enough = min(bucketBytes, FirstBucketBytes)
		}
		if 4*b.Len >= enough {
			full = append(full, *b)
			*b, begun[k] = Bucket{}, true
		}
	}
	withTables := open[exactKind]
	withTables.Exact, withTables.Tables = true, tables
	if len(tables) > 0 {
		open[exactKind] = Bucket{}
	}
	for _, b := range open {
		if b.Len > 0 {
			full = append(full, b)
		}
	}
	slices.SortFunc(full, func(a, b Bucket) int { return b.last() - a.last() })
	if len(tables) > 0 {
		full = append(full, withTables)
	}
	return place(full), nil
}

// place puts the buckets one after the other.
func place(buckets []Bucket) Plan {
	p := Plan{Buckets: buckets}
	for i := range buckets {
		buckets[i].Offset = p.Len
		p.Len += lines(buckets[i].Len)
	}
	return p
}

// lines rounds n elements up to whole cache lines.
func lines(n int) int { return (n + cacheLine - 1) / cacheLine * cacheLine }

// last returns the variable of b that backward completes last.
func (b Bucket) last() int { return b.Spans[len(b.Spans)-1].Variable }
