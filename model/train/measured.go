package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
)

// measured is what one rank knows of a step without codec, and of its own
// speed. Times are in seconds.
type measured struct {
	pace  []float64 // by bucket: all-reduces a second
	left  []float64 // by variable: of backward, when its gradient was ready
	step  float64
	hop   float64 // latency from rank to rank
	add   float64 // bytes of float32 per second, as in cost.Coding
	cores float64

	codings []cost.Coding
}

// numbers are all that ranks may differ in, in one order on all of them.
func (m *measured) numbers() []*float64 {
	all := []*float64{&m.step, &m.hop, &m.add, &m.cores}
	for i := range m.pace {
		all = append(all, &m.pace[i])
	}
	for i := range m.left {
		all = append(all, &m.left[i])
	}
	for i := range m.codings {
		all = append(all, &m.codings[i].Encode, &m.codings[i].Decode)
	}
	return all
}

// median returns the median of each number of several steps, which it reorders.
func median(steps []measured) measured {
	columns := make([][]*float64, len(steps))
	for i := range steps {
		columns[i] = steps[i].numbers()
	}
	values := make([]float64, len(steps))
	for n := range columns[0] {
		for i := range columns {
			values[i] = *columns[i][n]
		}
		slices.Sort(values)
		*columns[0][n] = values[len(values)/2]
	}
	return steps[0]
}

// leastOfRanks replaces each number by the least that a rank has: of a rate that
// of the slowest rank, of an all-reduce the pace of the rank that was the last to
// be done. It is collective, and m is the same on all ranks
// after it. A number below 0, or none, is an error with exitcode.Protocol.
func leastOfRanks(ctx context.Context, g *ring.Group, m *measured) error {
	numbers := m.numbers()
	var b []byte
	for _, v := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(*v))
	}
	all, err := gatherEqual(ctx, g, b)
	if err != nil {
		return err
	}
	for rank := range g.Membership().Size() {
		for i, least := range numbers {
			v := math.Float64frombits(binary.LittleEndian.Uint64(all.At(rank)[8*i:]))
			if !(v >= 0 && v <= math.MaxFloat64) {
				return exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d has measured %g as number %d, want 0 or more", rank, v, i))
			}
			*least = min(*least, v)
		}
	}
	return nil
}

// seconds is a duration, of a month at most.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, (30*24*time.Hour).Seconds()) * float64(time.Second))
}
