package look

import (
	"context"

	"ringtrain/input"
	"ringtrain/input/convert"
)

// heldOut says which records of the files a pass has: those of one part. Without parts it has all.
type heldOut struct {
	parts *input.Parts
	part  input.Part
}

func (h *heldOut) has(record int) bool { return h.parts == nil || h.parts.Has(record, h.part) }

// partsOf returns the parts of the records of a set, as training finds them, nil if the set is not divided.
func partsOf(ctx context.Context, s *convert.Spec) (*input.Parts, error) {
	if !s.Split.Holds() {
		return nil, nil
	}
	opened := *s
	opened.Learn, opened.Share, opened.Tolerate, opened.Cache, opened.Notice = false, false, true, convert.CacheOff, nil
	d, err := convert.Open(ctx, opened)
	if err != nil {
		return nil, err
	}
	return d.Facts().Parts, d.Close()
}
