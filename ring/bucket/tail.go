package bucket

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"ringtrain/ring"
)

// A Tail is what one rank tells all others in a step, exactly.
//
//	0       4       8               16              24      28      32              40              48      52      56      60      64
//	┌─┬─┬───┬───────┬───────────────┬───────────────┬───────┬───────┬───────────────┬───────────────┬───────┬───────┬───────┬───────┐
//	│v│f│ 0 │nonfin.│     loss      │   examples    │ stop  │ layer │    digest     │    record     │  bad  │ busy  │ sent  │memory │
//	└─┴─┴───┴───────┴───────────────┴───────────────┴───────┴───────┴───────────────┴───────────────┴───────┴───────┴───────┴───────┘
//
// All numbers are little-endian.
// `v`       version of this layout: 6.
// `f`       bit 0: the rank asks for a checkpoint, bit 1: for an evaluation, bit 2: Saved, bit 3: OldKeys, bit 4: WornKeys, bit 5: Unreached; the other bits are zero.
// `nonfin.` NonFinite, int32.  `loss` float64.  `examples` int64.  `stop` int32.  `digest` uint64.
// `record`  Record, int64.  `layer` Layer, int32.  `bad` Bad, uint32.
// `busy`    Busy in microseconds, uint32.  `sent` Sent in units of SentUnit, uint32.  `memory` Memory in KiB, uint32. The largest number of each also stands for more.
// A receiver refuses another version, bits that should be zero, and numbers out of range.
type Tail struct {
	Loss       float64 // sum of the losses of this rank's examples
	Examples   int64
	NonFinite  int32  // 1 + index of the first variable whose local gradient is not finite, 0 if none; the reducer finds it
	Stop       int32  // exit code that this rank asks to stop with (130, 143), 0 for none
	Checkpoint bool   // this rank asks for a checkpoint after this step
	Evaluate   bool   // this rank asks for an evaluation after this step
	Saved      bool   // this rank has saved the state before this step
	OldKeys    bool   // this rank asks for new keys of the links after this step
	WornKeys   bool   // a link of this rank has sent all that its key is good for
	Unreached  bool   // this rank does not reach the rendezvous
	Digest     uint64 // first 8 bytes of the digest of the replica, 0 if none was made
	Layer      int32  // 1 + index of the model's first layer with an output that is not finite, 0 if none
	Bad        uint32 // this rank's examples whose records are bad
	Record     int64  // 1 + number in the data set of this rank's first record whose loss is not finite, 0 if none

	// Busy is the time of this rank's step before without its waits for the exchange, in whole
	// microseconds, 0 in the first step. A time without a core is no wait.
	Busy time.Duration

	Sent   int64 // bytes that this rank has sent since its tail before, in whole units of SentUnit
	Memory int64 // resident memory of this rank in bytes, in whole KiB; 0: unknown
}

// SentUnit is the unit of Tail.Sent, in bytes.
const SentUnit = 64

const tailVersion = 6

// flags returns the flags of t, from bit 0 on.
func (t *Tail) flags() [6]*bool {
	return [...]*bool{&t.Checkpoint, &t.Evaluate, &t.Saved, &t.OldKeys, &t.WornKeys, &t.Unreached}
}

// put encodes t into dst.
func (t *Tail) put(dst *[ring.TailBytes]byte) {
	le := binary.LittleEndian
	*dst = [ring.TailBytes]byte{0: tailVersion}
	for i, set := range t.flags() {
		if *set {
			dst[1] |= 1 << i
		}
	}
	le.PutUint32(dst[4:], uint32(t.NonFinite))
	le.PutUint64(dst[8:], math.Float64bits(t.Loss))
	le.PutUint64(dst[16:], uint64(t.Examples))
	le.PutUint32(dst[24:], uint32(t.Stop))
	le.PutUint32(dst[28:], uint32(t.Layer))
	le.PutUint64(dst[32:], t.Digest)
	le.PutUint64(dst[40:], uint64(t.Record))
	le.PutUint32(dst[48:], t.Bad)
	le.PutUint32(dst[52:], upTo32(t.Busy.Microseconds()))
	le.PutUint32(dst[56:], upTo32(t.Sent/SentUnit))
	le.PutUint32(dst[60:], upTo32(t.Memory/kib))
}

const kib = 1 << 10

// upTo32 returns the nearest number of 32 bits.
func upTo32(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// parseTail decodes a tail, for a model with so many variables.
func parseTail(src *[ring.TailBytes]byte, variables int) (Tail, error) {
	le := binary.LittleEndian
	if src[0] != tailVersion {
		return Tail{}, fmt.Errorf("version is %d, want %d", src[0], tailVersion)
	}
	t := Tail{
		Loss:      math.Float64frombits(le.Uint64(src[8:])),
		Examples:  int64(le.Uint64(src[16:])),
		NonFinite: int32(le.Uint32(src[4:])),
		Stop:      int32(le.Uint32(src[24:])),
		Layer:     int32(le.Uint32(src[28:])),
		Digest:    le.Uint64(src[32:]),
		Record:    int64(le.Uint64(src[40:])),
		Bad:       le.Uint32(src[48:]),
		Busy:      time.Duration(le.Uint32(src[52:])) * time.Microsecond,
		Sent:      int64(le.Uint32(src[56:])) * SentUnit,
		Memory:    int64(le.Uint32(src[60:])) * kib,
	}
	flags := t.flags()
	for i, set := range flags {
		*set = src[1]>>i&1 != 0
	}
	if src[1]>>len(flags) != 0 || le.Uint16(src[2:]) != 0 {
		return Tail{}, fmt.Errorf("reserved bits are set in %x, want 0", *src)
	}
	if err := t.check(variables); err != nil {
		return Tail{}, err
	}
	return t, nil
}

// check returns an error if a number is out of range.
func (t *Tail) check(variables int) error {
	switch {
	case t.NonFinite < 0 || int64(t.NonFinite) > int64(variables):
		return fmt.Errorf("non-finite variable is %d, want 0 to %d", t.NonFinite, variables)
	case t.Examples < 0:
		return fmt.Errorf("number of examples is %d, want 0 or more", t.Examples)
	case t.Layer < 0:
		return fmt.Errorf("layer is %d, want 0 or more", t.Layer)
	case t.Record < 0:
		return fmt.Errorf("record is %d, want 0 or more", t.Record)
	case t.Stop < 0 || t.Stop > 255:
		return fmt.Errorf("exit code to stop with is %d, want 0 to 255", t.Stop)
	}
	return nil
}

// fold merges the requests of a rank's tail in a later bucket of the step. Its numbers are
// equal in all buckets.
func (t *Tail) fold(later Tail) {
	t.NonFinite = lowest(t.NonFinite, later.NonFinite)
	t.Stop = max(t.Stop, later.Stop)
	others := later.flags()
	for i, set := range t.flags() {
		*set = *set || *others[i]
	}
}
