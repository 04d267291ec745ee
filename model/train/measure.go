package train

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"ringtrain/model/job"
	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
)

// measurement holds one rank's measurements of a step without a codec, and of its own speed. Times are
// in seconds.
type measurement struct {
	rates    []float64 // by bucket: all-reduces per second
	untilEnd []float64 // by variable: time from the gradient being ready to the end of backward
	step     float64
	hop      float64 // latency from rank to rank
	add      float64 // bytes of float32 per second, as in cost.Coding
	tls      float64 // as in cost.Rates
	cores    float64

	codings []cost.Coding
}

// numbers returns all numbers that may differ between ranks, in the same order on all of them.
func (m *measurement) numbers() []*float64 {
	all := []*float64{&m.step, &m.hop, &m.add, &m.tls, &m.cores}
	for i := range m.rates {
		all = append(all, &m.rates[i])
	}
	for i := range m.untilEnd {
		all = append(all, &m.untilEnd[i])
	}
	for i := range m.codings {
		all = append(all, &m.codings[i].Encode, &m.codings[i].Decode)
	}
	return all
}

// median returns the median of each number of several steps, which it reorders.
func median(steps []measurement) measurement {
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

// leastOfRanks replaces each number by the least of all ranks: the rate of the slowest rank, and the
// rate of an all-reduce on the rank that finished last. It is collective, and m is equal on all ranks
// after it. A number below 0 or NaN is an error with exitcode.Protocol.
func leastOfRanks(ctx context.Context, g *ring.Group, m *measurement) error {
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

// seconds returns s as a duration, of a month at most.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, (30*24*time.Hour).Seconds()) * float64(time.Second))
}

// candidates returns the codecs from which auto chooses, the most precise first.
func candidates() []codec.Codec { return []codec.Codec{codec.BF16, codec.FP16, codec.Int8} }

// warmUp times the last step if it is one of the first steps. After the last of them it chooses the
// codec, which is collective, and returns its number in progress.codec; else 0.
func (t *tuner) warmUp(ctx context.Context, l *Loop) (id int64, err error) {
	if t.warmupLeft == 0 {
		return 0, nil
	}
	t.steps = append(t.steps, t.timeStep(l.last))
	if t.warmupLeft--; t.warmupLeft > 0 {
		return 0, nil
	}
	t.reducer.Time(false)
	m := median(t.steps)
	t.steps = nil
	if m.hop, err = timeHop(ctx, t.group); err != nil {
		return 0, err
	}
	if t.config.Security == job.TLS {
		m.tls = timeTLS()
	}
	m.cores = float64(t.cores)
	m.codings, m.add = t.reducer.Codings(candidates(), codecTimeLimit)
	if err := leastOfRanks(ctx, t.group, &m); err != nil {
		return 0, err
	}
	return t.apply(t.decide(m), l.Step)
}

// timeStep returns the measurement of the last step.
func (t *tuner) timeStep(last times) measurement {
	m := measurement{step: (last.input + last.compute + last.exposed).Seconds()}
	for _, d := range t.reducer.Took() {
		m.rates = append(m.rates, 1/max(d, 1).Seconds())
	}
	for _, d := range t.reducer.Left() {
		m.untilEnd = append(m.untilEnd, d.Seconds())
	}
	return m
}

// decide chooses a codec from the numbers that all ranks share. The largest bucket gives the speed of
// the wire, because latency is its smallest part.
func (t *tuner) decide(m measurement) cost.Decision {
	layout := layoutOf(t.group.Membership(), t.group.Levels())
	rates := cost.Rates{Latency: seconds(m.hop), TLS: m.tls, Add: m.add, SpareCore: m.cores >= 2, Codings: m.codings}
	buckets, largest := t.reducer.Plan().Buckets, 0
	for i, b := range buckets {
		if b.Len > buckets[largest].Len {
			largest = i
		}
	}
	rates.Bandwidth = cost.Bandwidth(rates, seconds(1/m.rates[largest]), int64(4*buckets[largest].Len), layout)
	left := make([]time.Duration, len(m.untilEnd))
	for i, s := range m.untilEnd {
		left[i] = seconds(s)
	}
	return cost.Choose(rates, cost.Buckets{Step: seconds(m.step), Each: t.ringBuckets(left)}, layout)
}

// layoutOf returns which ranks send between hosts. On two levels each host has as many senders as the
// smallest host has ranks; else all ranks form one ring.
func layoutOf(m ring.Membership, levels string) cost.Layout {
	if levels != "two" {
		return cost.Layout{Hosts: m.Size(), Local: 1}
	}
	hosts, local := m.HostRanks(), m.Size()
	for _, ranks := range hosts {
		local = min(local, len(ranks))
	}
	return cost.Layout{Hosts: len(hosts), Local: local}
}

// timeHop returns the seconds from a rank to the next one. It divides the shortest of some small
// all-gathers by the number of hops, because the bytes of each rank go around the whole ring.
func timeHop(ctx context.Context, g *ring.Group) (float64, error) {
	const rounds = 5
	var all ring.Gathered
	shortest := time.Duration(math.MaxInt64)
	for range rounds {
		start := time.Now()
		if err := g.AllGather(ctx, make([]byte, 8), &all); err != nil {
			return 0, err
		}
		shortest = min(shortest, time.Since(start))
	}
	return shortest.Seconds() / float64(hops(g.Membership(), g.Levels())), nil
}

// timeTLS returns the bytes per second that one core encrypts and decrypts in records of TLS.
func timeTLS() float64 {
	const recordBytes, records, rounds = 16 << 10, 16, 5
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		return 0
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		return 0
	}
	nonce, record := make([]byte, sealer.NonceSize()), make([]byte, recordBytes, recordBytes+sealer.Overhead())
	shortest := time.Duration(math.MaxInt64)
	for range rounds {
		start := time.Now()
		for range records {
			sealed := sealer.Seal(record[:0], nonce, record, nil)
			if record, err = sealer.Open(sealed[:0], nonce, sealed, nil); err != nil {
				return 0
			}
		}
		shortest = min(shortest, time.Since(start))
	}
	return records * recordBytes / max(shortest, 1).Seconds()
}

// hops returns the number of successive hops of an all-gather. On two levels only hops between hosts
// count, because ranks of one host are neighbours without a wire.
func hops(m ring.Membership, levels string) int {
	if levels != "two" {
		return max(m.Size()-1, 1)
	}
	n := 0
	ranks, _ := m.InRing()
	for at, rank := range ranks {
		if next := ranks[(at+1)%len(ranks)]; m.Workers[next].HostID != m.Workers[rank].HostID {
			n++
		}
	}
	return max(n, 1)
}
