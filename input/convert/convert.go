package convert

import (
	"context"
	"fmt"
	"io"
	"strings"

	"ringtrain/input"
	"ringtrain/input/libsvm"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// Convert writes the records of src, in order, to the file of dst. It compresses the
// file by gzip if its name ends in .gz. Labels become int64 features if all of them are
// whole and dst.FloatLabel is not set. dst.Base is added to ids. Dense records with a
// shape may become a folder of images, which must not exist. A record with a weight is
// exitcode.BadData: no format that is written holds weights.
//
// The error is exitcode.Usage for a format that cannot hold the records, exitcode.CannotCreate
// if dst exists and dst.Overwrite is not set, or that of [Open]. After an error no file
// is left.
func Convert(ctx context.Context, src, dst Spec) error {
	f, err := dst.checkWritten()
	if err != nil {
		return err
	}
	d, err := Open(ctx, src)
	if err != nil {
		return err
	}
	defer d.Close()
	dense, whole, err := survey(ctx, d)
	if err != nil {
		return err
	}
	dst.Dense = dense
	dst.FloatLabel = dst.FloatLabel || !whole
	return f.write(ctx, d, dst)
}

// checkWritten returns the format of s, or an error if Convert cannot write s.
func (s Spec) checkWritten() (Format, error) {
	f, _ := FormatOf(s.Format)
	switch {
	case !f.IsWritten():
		return f, usage("cannot write format %q, want one of %s", s.Format, strings.Join(Names(Format.IsWritten), ", "))
	case len(s.Files) != 1:
		return f, usage("%d files to write, want one", len(s.Files))
	case s.Compression != "" && s.Compression != "auto":
		return f, usage("compression is %q, want auto: a file to write is gzip if its name ends in .gz", s.Compression)
	case s.Base < 0:
		return f, usage("base is %d, want 0 or more", s.Base)
	}
	return f, nil
}

// survey reads all records, refuses those with a weight, and reports whether they are dense and whether all labels are
// whole numbers.
func survey(ctx context.Context, d input.Dataset) (dense, whole bool, err error) {
	var b input.Batch
	whole = true
	for i := range d.Facts().Records {
		b.Reset()
		if err := d.Append(&b, i); err != nil {
			return false, false, err
		}
		if ctx.Err() != nil {
			return false, false, context.Cause(ctx)
		}
		if len(b.Importance) > 0 && b.Importance[0] != 1 {
			return false, false, exitcode.With(exitcode.BadData, fmt.Errorf("record %d has the weight %g, want 1: no format that is written holds weights", i, b.Importance[0]))
		}
		const most = 1 << 24 // float32 cannot represent all larger whole numbers
		y := b.Y[0]
		whole = whole && y >= -most && y <= most && y == float32(int32(y))
	}
	return b.X.Dense.Cols > 0, whole, nil
}

// writeRecords writes all records of d to the file of s, each by the function that begin returns. The file
// appears complete.
func writeRecords(ctx context.Context, d input.Dataset, s Spec, begin func(w io.Writer) func(b *input.Batch) error) error {
	out, err := input.Create(s.Files[0], s.Overwrite)
	if err != nil {
		return err
	}
	defer out.Close()
	put := begin(out)
	if err := eachRecord(ctx, d, func(_ int, b *input.Batch) error { return put(b) }); err != nil {
		return err
	}
	return out.Commit()
}

// eachRecord calls put with each record of d alone, and its number.
func eachRecord(ctx context.Context, d input.Dataset, put func(i int, b *input.Batch) error) error {
	var b input.Batch
	for i := range d.Facts().Records {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.Reset()
		if err := d.Append(&b, i); err != nil {
			return err
		}
		if err := put(i, &b); err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
	}
	return nil
}

func writeLibSVM(ctx context.Context, d input.Dataset, s Spec) error {
	if s.Dense {
		return usage("the records are dense, want sparse ones to write %s", s.Format)
	}
	return writeRecords(ctx, d, s, func(w io.Writer) func(b *input.Batch) error {
		lines := libsvm.NewWriter(w, s.Base)
		return func(b *input.Batch) error { return lines.Write(b.Y[0], b.X.Bags.Slot, b.X.Bags.Weights) }
	})
}

func writeTFRecord(ctx context.Context, d input.Dataset, s Spec) error {
	return writeRecords(ctx, d, s, func(w io.Writer) func(b *input.Batch) error {
		records := tfrecord.NewWriter(w)
		encoder := tfrecord.Encoder{Label: s.Label, IDs: s.IDs, Values: s.Values, FloatLabel: s.FloatLabel}
		var example []byte
		return func(b *input.Batch) error {
			if s.Dense {
				example = encoder.AppendDense(example[:0], b.Y[0], b.X.Dense.Row(0))
			} else {
				example = encoder.AppendSparse(example[:0], b.Y[0], b.X.Bags.Slot, b.X.Bags.Weights)
			}
			return records.Write(example)
		}
	})
}
