package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/huff0"
)

// huffBlock is the number of bytes that share a Huffman code.
const huffBlock = 128 << 10

// Kinds of blocks.
const (
	huffRaw  = 0 // the bytes themselves
	huffRun  = 1 // one byte that is repeated
	huffCode = 2 // length, table, four streams
)

// NewHuff0 returns a compressor that encodes each byte by its frequency, with
// klauspost/compress/huff0. It finds no repetitions. It is made for the codes of [Int8U], most
// of which are near zero. It is experimental.
//
//	┌─────────┬──────────┬──────────┬───┐
//	│ uvarint │ block[0] │ block[1] │ … │   uvarint: number of bytes; each block
//	└─────────┴──────────┴──────────┴───┘   holds 128 KiB of them, the last fewer
//
//	raw: ┌─────┬─────────┐  run: ┌─────┬──────┐  coded: ┌─────┬─────┬───────────────┐
//	     │ 0   │ bytes   │       │ 1   │ byte │         │ 2   │ len │ len bytes of  │
//	     │ u8  │         │       │ u8  │      │         │ u8  │ u32 │ Compress4X    │
//	     └─────┴─────────┘       └─────┴──────┘         └─────┴─────┴───────────────┘
//
// A block is a run if all its bytes are equal, and raw if coding makes it no
// shorter. Integers are little-endian. There is no checksum; the frame has one.
//
// A block does not depend on earlier calls. The compressor owns one encoder and one decoder,
// each with a lock, so several goroutines may use it. There is nothing to close. Once warm,
// Append does not allocate if dst has room for MaxLen more bytes, and Decode does not
// allocate.
func NewHuff0() Compressor {
	h := &huff0Compressor{}
	h.e.Reuse = huff0.ReusePolicyNone
	return h
}

type huff0Compressor struct {
	encoding sync.Mutex
	e        huff0.Scratch
	decoding sync.Mutex
	d        huff0.Scratch
}

func (*huff0Compressor) ID() uint8        { return 3 }
func (*huff0Compressor) String() string   { return "huff0" }
func (*huff0Compressor) MaxLen(n int) int { return binary.MaxVarintLen64 + n + n/huffBlock + 1 }

func (h *huff0Compressor) Append(dst, src []byte) []byte {
	h.encoding.Lock()
	defer h.encoding.Unlock()
	dst = binary.AppendUvarint(dst, uint64(len(src)))
	for len(src) > 0 {
		n := min(huffBlock, len(src))
		dst = h.appendBlock(dst, src[:n])
		src = src[n:]
	}
	return dst
}

func (h *huff0Compressor) appendBlock(dst, src []byte) []byte {
	coded, _, err := huff0.Compress4X(src, &h.e)
	switch {
	case errors.Is(err, huff0.ErrUseRLE):
		return append(dst, huffRun, src[0])
	case err != nil || 5+len(coded) >= 1+len(src):
		return append(append(dst, huffRaw), src...)
	}
	dst = binary.LittleEndian.AppendUint32(append(dst, huffCode), uint32(len(coded)))
	return append(dst, coded...)
}

func (h *huff0Compressor) Decode(dst, payload []byte) (err error) {
	h.decoding.Lock()
	defer h.decoding.Unlock()
	defer recoverAs(h, &err)
	n, used := binary.Uvarint(payload)
	if used <= 0 {
		return decodeError(h, payload, errors.New("no length"))
	}
	if n != uint64(len(dst)) {
		return fmt.Errorf("compressor huff0: payload of %d bytes holds %d, want %d", len(payload), n, len(dst))
	}
	rest := payload[used:]
	for len(dst) > 0 {
		n := min(huffBlock, len(dst))
		if rest, err = h.decodeBlock(dst[:n:n], rest); err != nil {
			return decodeError(h, payload, err)
		}
		dst = dst[n:]
	}
	if len(rest) > 0 {
		return decodeError(h, payload, fmt.Errorf("%d bytes too many", len(rest)))
	}
	return nil
}

var errCut = errors.New("block is cut")

// decodeBlock fills dst from the block at the start of src and returns the bytes behind
// the block.
func (h *huff0Compressor) decodeBlock(dst, src []byte) ([]byte, error) {
	if len(src) < 2 {
		return nil, errCut
	}
	kind, src := src[0], src[1:]
	switch kind {
	case huffRaw:
		if len(src) < len(dst) {
			return nil, errCut
		}
		return src[copy(dst, src):], nil
	case huffRun:
		for i := range dst {
			dst[i] = src[0]
		}
		return src[1:], nil
	case huffCode:
		if len(src) < 4 || uint64(len(src)-4) < uint64(binary.LittleEndian.Uint32(src)) {
			return nil, errCut
		}
		end := 4 + int(binary.LittleEndian.Uint32(src))
		return src[end:], h.decodeStreams(dst, src[4:end])
	}
	return nil, fmt.Errorf("block of kind %d, want 0 to 2", kind)
}

// decodeStreams fills dst from the output of Compress4X.
func (h *huff0Compressor) decodeStreams(dst, src []byte) error {
	_, streams, err := huff0.ReadTable(src, &h.d)
	if err != nil {
		return err
	}
	out, err := h.d.Decoder().Decompress4X(dst[:0:len(dst)], streams)
	if err == nil && len(out) != len(dst) {
		err = fmt.Errorf("block holds %d bytes, want %d", len(out), len(dst))
	}
	return err
}
