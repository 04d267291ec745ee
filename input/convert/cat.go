package convert

import (
	"bufio"
	"context"
	"io"
	"strconv"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// Cat prints n records from index from on as JSON, one object per line. n < 0 means all
// remaining records.
//
//	{"record":0,"label":5,"features":[0,0.5]}
//	{"record":0,"label":1,"ids":[3,7],"values":[1,0.25]}
//
// Numbers have the shortest form that parses to the same float32. An index out of range
// is exitcode.Usage, an error of w exitcode.IO.
func Cat(ctx context.Context, w io.Writer, s Spec, from, n int) error {
	d, err := Open(ctx, s)
	if err != nil {
		return err
	}
	defer d.Close()
	return EachRecord(w, d, from, n, appendRecord)
}

// EachRecord writes what appendTo makes of n records from index from on. Its errors are those of Cat.
func EachRecord(w io.Writer, d input.Dataset, from, n int, appendTo func(dst []byte, record int, b *input.Batch) []byte) error {
	last := d.Facts().Records
	if from < 0 || from > last {
		return usage("first record is %d, want one in [0, %d]", from, last)
	}
	if n >= 0 {
		last = from + min(n, last-from)
	}
	out := bufio.NewWriter(w)
	var b input.Batch
	var line []byte
	for i := from; i < last; i++ {
		b.Reset()
		if err := d.Append(&b, i); err != nil {
			out.Flush() // write the records before
			return err
		}
		line = appendTo(line[:0], i, &b)
		if _, err := out.Write(line); err != nil {
			return exitcode.With(exitcode.IO, err)
		}
	}
	return exitcode.With(exitcode.IO, out.Flush())
}

func appendRecord(dst []byte, record int, b *input.Batch) []byte {
	dst = append(dst, `{"record":`...)
	dst = strconv.AppendInt(dst, int64(record), 10)
	dst = append(dst, `,"label":`...)
	dst = appendFloat(dst, b.Y[0])
	if b.X.Dense.Cols > 0 {
		dst = append(dst, `,"features":`...)
		dst = appendFloats(dst, b.X.Dense.Row(0))
	} else {
		dst = append(dst, `,"ids":[`...)
		for i, id := range b.X.Bags.Slot {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendUint(dst, uint64(id), 10)
		}
		dst = append(dst, `],"values":`...)
		dst = appendFloats(dst, b.X.Bags.Weights)
	}
	return append(dst, "}\n"...)
}

func appendFloats(dst []byte, values []float32) []byte {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendFloat(dst, v)
	}
	return append(dst, ']')
}

func appendFloat(dst []byte, v float32) []byte {
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
}
