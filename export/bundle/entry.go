package bundle

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"ringtrain/export/tfpb"
)

// Entry describes a tensor of a bundle and the location of its bytes.
type Entry struct {
	Name   string
	DType  DType
	Shape  []int64 // empty for a scalar
	Shard  int     // number of the data file
	Offset int64   // of the first byte in that file
	Size   int64   // in bytes
	CRC    uint32  // CRC-32C, masked, as stored
}

// Upper bounds that a reader enforces. TensorFlow itself has no tensors of more than 254
// dimensions and no bundles of more shards than five digits can name.
const (
	maxName    = 4096
	maxRank    = 254
	maxShards  = 99999
	maxMessage = 64 << 10 // bytes of a header or an entry
)

// Fields that are written of BundleEntryProto, TensorShapeProto and BundleHeaderProto.
const (
	entryDType, entryShape, entryShard, entryOffset, entrySize, entryCRC = 1, 2, 3, 4, 5, 6

	shapeDim, dimSize = 2, 1

	headerShards, headerVersion = 1, 3
)

// formatVersion is the version of the format that this package writes and
// reads: producer and consumer 1.
const formatVersion = 1

// appendHeader appends the BundleHeaderProto of a little-endian bundle.
func appendHeader(dst []byte, shards int) []byte {
	dst = appendVarint(dst, headerShards, uint64(shards))
	dst = protowire.AppendTag(dst, headerVersion, protowire.BytesType)
	return protowire.AppendBytes(dst, appendVarint(nil, 1, formatVersion))
}

// appendTo appends e as a BundleEntryProto in TensorFlow's canonical form: no zero
// fields, always a shape, the checksum last.
func (e Entry) appendTo(dst []byte) []byte {
	dst = appendVarint(dst, entryDType, uint64(e.DType))
	var shape []byte
	for _, d := range e.Shape {
		shape = protowire.AppendTag(shape, shapeDim, protowire.BytesType)
		shape = protowire.AppendBytes(shape, appendVarint(nil, dimSize, uint64(d)))
	}
	dst = protowire.AppendTag(dst, entryShape, protowire.BytesType)
	dst = protowire.AppendBytes(dst, shape)
	dst = appendVarint(dst, entryShard, uint64(e.Shard))
	dst = appendVarint(dst, entryOffset, uint64(e.Offset))
	dst = appendVarint(dst, entrySize, uint64(e.Size))
	if e.CRC != 0 {
		dst = protowire.AppendTag(dst, entryCRC, protowire.Fixed32Type)
		dst = protowire.AppendFixed32(dst, e.CRC)
	}
	return dst
}

// appendVarint appends a field unless it is zero.
func appendVarint(dst []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return dst
	}
	dst = protowire.AppendTag(dst, field, protowire.VarintType)
	return protowire.AppendVarint(dst, v)
}

// unmarshal parses a message of the index. Its size is bounded, because the parsed form of
// a shape takes many times its bytes.
func unmarshal(msg []byte, m proto.Message) error {
	if len(msg) > maxMessage {
		return fmt.Errorf("a message has %d bytes, want at most %d", len(msg), maxMessage)
	}
	return proto.Unmarshal(msg, m)
}

// parseHeader returns the number of shards. It checks that the bundle accepts readers of
// formatVersion.
func parseHeader(msg []byte) (shards int, err error) {
	var h tfpb.BundleHeaderProto
	err = unmarshal(msg, &h)
	switch wanted := h.Version.GetMinConsumer(); {
	case err != nil:
	case h.NumShards < 0 || h.NumShards > maxShards:
		err = fmt.Errorf("%d shards, want at most %d", h.NumShards, maxShards)
	case h.Endianness != tfpb.BundleHeaderProto_LITTLE:
		err = errors.New("big-endian bundles are not supported")
	case wanted > formatVersion:
		err = fmt.Errorf("the bundle wants a reader of version %d, this is version %d", wanted, formatVersion)
	case slices.Contains(h.Version.GetBadConsumers(), formatVersion):
		err = fmt.Errorf("the bundle refuses readers of version %d", formatVersion)
	}
	return int(h.NumShards), err
}

// parseEntry parses a BundleEntryProto and checks everything that needs no data file.
func parseEntry(name string, msg []byte) (Entry, error) {
	var p tfpb.BundleEntryProto
	if err := unmarshal(msg, &p); err != nil {
		return Entry{}, err
	}
	e := Entry{Name: name, DType: DType(p.Dtype), Shard: int(p.ShardId), Offset: p.Offset, Size: p.Size, CRC: p.Crc32C}
	switch dims := p.Shape.GetDim(); {
	case len(p.Slices) > 0:
		return e, errors.New("partitioned tensors (slices) are not supported")
	case p.Shape.GetUnknownRank():
		return e, errors.New("the shape is unknown")
	case len(dims) > maxRank:
		return e, fmt.Errorf("more than %d dimensions", maxRank)
	default:
		for i, d := range dims {
			if d.Size < 0 {
				return e, fmt.Errorf("dimension %d is %d, want 0 or more", i, d.Size)
			}
			e.Shape = append(e.Shape, d.Size)
		}
	}
	if e.Shard < 0 || e.Shard >= maxShards || e.Offset < 0 || e.Size < 0 {
		return e, fmt.Errorf("shard %d, offset %d, size %d: want all 0 or more", e.Shard, e.Offset, e.Size)
	}
	return e, e.checkSize()
}

// checkSize compares the size with type and shape. An element of a string tensor takes
// at least one byte, and the checksum of the lengths takes four.
func (e Entry) checkSize() error {
	if !e.DType.known() {
		return fmt.Errorf("elements of %v are not supported", e.DType)
	}
	n, ok := elements(e.Shape)
	width := int64(max(e.DType.Size(), 1))
	switch {
	case !ok || n > math.MaxInt64/width:
		return fmt.Errorf("shape %v is too large", e.Shape)
	case e.DType == DTString && e.Size-4 < n:
		return fmt.Errorf("%d bytes for %d strings, want at least %d", e.Size, n, n+4)
	case e.DType != DTString && e.Size != n*width:
		return fmt.Errorf("%d bytes for %v %v, want %d", e.Size, e.DType, e.Shape, n*width)
	}
	return nil
}

// elements returns the number of elements of a shape without negative dimensions. ok is
// false if the number overflows.
func elements(shape []int64) (n int64, ok bool) {
	if slices.Contains(shape, 0) {
		return 0, true
	}
	n = 1
	for _, d := range shape {
		if n > math.MaxInt64/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}
