package bundle

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
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
	maxName   = 4096
	maxRank   = 254
	maxShards = 99999
)

// Fields of BundleEntryProto, TensorShapeProto and BundleHeaderProto.
const (
	entryDType, entryShape, entryShard, entryOffset, entrySize, entryCRC, entrySlices = 1, 2, 3, 4, 5, 6, 7

	shapeDim, shapeUnknownRank, dimSize = 2, 3, 1

	headerShards, headerEndianness, headerVersion = 1, 2, 3

	versionMinConsumer, versionBadConsumer = 2, 3
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

// eachField calls fn for every field of a message. The argument v is the value of a
// number, b the bytes of a message.
func eachField(msg []byte, fn func(field protowire.Number, v uint64, b []byte) error) error {
	for len(msg) > 0 {
		field, kind, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return protowire.ParseError(n)
		}
		msg = msg[n:]
		var v uint64
		var b []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(msg)
		case protowire.Fixed32Type:
			var u uint32
			u, n = protowire.ConsumeFixed32(msg)
			v = uint64(u)
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(msg)
		default:
			n = protowire.ConsumeFieldValue(field, kind, msg)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := fn(field, v, b); err != nil {
			return err
		}
		msg = msg[n:]
	}
	return nil
}

// parseHeader returns the number of shards.
func parseHeader(msg []byte) (shards int, err error) {
	err = eachField(msg, func(field protowire.Number, v uint64, b []byte) error {
		switch field {
		case headerShards:
			if v > maxShards {
				return fmt.Errorf("%d shards, want at most %d", v, maxShards)
			}
			shards = int(v)
		case headerEndianness:
			if v != 0 {
				return errors.New("big-endian bundles are not supported")
			}
		case headerVersion:
			return parseVersion(b)
		}
		return nil
	})
	return shards, err
}

// parseVersion checks that the bundle accepts readers of formatVersion.
func parseVersion(msg []byte) error {
	refuse := func(v uint64) error {
		if v != formatVersion {
			return nil
		}
		return fmt.Errorf("the bundle refuses readers of version %d", formatVersion)
	}
	return eachField(msg, func(field protowire.Number, v uint64, b []byte) error {
		switch field {
		case versionMinConsumer:
			if v > formatVersion {
				return fmt.Errorf("the bundle wants a reader of version %d, this is version %d", v, formatVersion)
			}
		case versionBadConsumer:
			if len(b) == 0 {
				return refuse(v)
			}
			for len(b) > 0 { // packed
				v, n := protowire.ConsumeVarint(b)
				if n < 0 {
					return protowire.ParseError(n)
				}
				if err := refuse(v); err != nil {
					return err
				}
				b = b[n:]
			}
		}
		return nil
	})
}

// parseEntry parses a BundleEntryProto and checks everything that needs no data file.
func parseEntry(name string, msg []byte) (Entry, error) {
	e := Entry{Name: name}
	var shard uint64
	err := eachField(msg, func(field protowire.Number, v uint64, b []byte) error {
		switch field {
		case entryDType:
			e.DType = DType(v)
		case entryShape:
			return parseShape(&e.Shape, b)
		case entryShard:
			shard = v
		case entryOffset:
			e.Offset = int64(v)
		case entrySize:
			e.Size = int64(v)
		case entryCRC:
			e.CRC = uint32(v)
		case entrySlices:
			return errors.New("partitioned tensors (slices) are not supported")
		}
		return nil
	})
	if err != nil {
		return e, err
	}
	if shard >= maxShards || e.Offset < 0 || e.Size < 0 {
		return e, fmt.Errorf("shard %d, offset %d, size %d: want all 0 or more", shard, e.Offset, e.Size)
	}
	e.Shard = int(shard)
	return e, e.checkSize()
}

func parseShape(shape *[]int64, msg []byte) error {
	return eachField(msg, func(field protowire.Number, v uint64, b []byte) error {
		switch {
		case field == shapeUnknownRank && v != 0:
			return errors.New("the shape is unknown")
		case field != shapeDim:
			return nil
		case len(*shape) == maxRank:
			return fmt.Errorf("more than %d dimensions", maxRank)
		}
		size := int64(0)
		err := eachField(b, func(field protowire.Number, v uint64, _ []byte) error {
			if field == dimSize {
				size = int64(v)
			}
			return nil
		})
		if size < 0 {
			return fmt.Errorf("dimension %d is %d, want 0 or more", len(*shape), size)
		}
		*shape = append(*shape, size)
		return err
	})
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
