package events

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// This file encodes scalar events by hand, for speed. The bytes equal those of package
// tfpb's messages.

// appendValue appends a value of a Summary: Value{1: tag, 2: simple_value}.
func appendValue(dst []byte, s Scalar) []byte {
	n := protowire.SizeTag(1) + protowire.SizeBytes(len(s.Tag)) + protowire.SizeTag(2) + protowire.SizeFixed32()
	dst = protowire.AppendTag(dst, 1, protowire.BytesType) // Summary.value
	dst = protowire.AppendVarint(dst, uint64(n))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendString(dst, s.Tag)
	dst = protowire.AppendTag(dst, 2, protowire.Fixed32Type)
	return protowire.AppendFixed32(dst, math.Float32bits(float32(s.Value)))
}

// appendSummary appends Event{1: wall_time, 2: step, 5: summary}.
func appendSummary(dst []byte, wallTime float64, step int64, summary []byte) []byte {
	dst = protowire.AppendTag(dst, 1, protowire.Fixed64Type)
	dst = protowire.AppendFixed64(dst, math.Float64bits(wallTime))
	dst = protowire.AppendTag(dst, 2, protowire.VarintType)
	dst = protowire.AppendVarint(dst, uint64(step))
	dst = protowire.AppendTag(dst, 5, protowire.BytesType)
	return protowire.AppendBytes(dst, summary)
}
