package bucket

import (
	"time"

	"ringtrain/ring/codec"
	"ringtrain/ring/cost"
)

// The methods below measure what the choice of a codec needs, in the first steps of a run. They
// are called between two steps, and they allocate.

// times are when things happened in a step. took is of the goroutine that sums, until the step is
// done.
type times struct {
	on     bool            // all ranks begin each bucket together: see Reducer.Time
	filled []time.Time     // by variable: when it was ready
	waited time.Time       // when Wait began
	took   []time.Duration // by bucket: all-reduce
}

// Time turns the timing of steps on or off, equally on all ranks. With timing all ranks begin
// each bucket together, so that none waits in it for a late one.
func (r *Reducer) Time(on bool) { r.times.on = on }

// Took returns how long the all-reduce of each bucket of Plan took in the last step on this
// rank. In a timed step the exchange took as long as the slowest rank: a rank is done once it
// has the sum, while its neighbour may still wait for frames.
func (r *Reducer) Took() []time.Duration { return append([]time.Duration(nil), r.times.took...) }

// Left returns for each variable how much of backward was left in the last step when its
// gradient was ready.
func (r *Reducer) Left() []time.Duration {
	left := make([]time.Duration, len(r.times.filled))
	for i, at := range r.times.filled {
		left[i] = r.times.waited.Sub(at)
	}
	return left
}

// Plan returns the current plan, which the caller must not change.
func (r *Reducer) Plan() Plan { return r.plan.Plan }

// Coded returns the buckets of a lossy codec, in the order in which they leave, for variables
// that are ready when so much of backward is left.
func (r *Reducer) Coded(left []time.Duration) []cost.Bucket {
	buckets := make([]cost.Bucket, len(r.lossy.Buckets))
	for i, k := range r.lossy.Buckets {
		b := cost.Bucket{Bytes: int64(4 * k.Len), Exact: k.Exact}
		if len(k.Tables) == 0 { // with tables it leaves at the end of backward
			b.Left = left[k.Spans[0].Variable]
		}
		for _, s := range k.Spans {
			b.Left = min(b.Left, left[s.Variable])
		}
		buckets[i] = b
	}
	return buckets
}

// sampleElements is the length of the sample for rates: a segment of the ring.
const sampleElements = 1 << 17

// Codings measures how fast this rank encodes and decodes its gradients of the last step with
// each of the codecs, and how fast it adds without one, in bytes of float32 per second. It
// encodes as the ring does, with error feedback if that is on. It takes about limit in all.
func (r *Reducer) Codings(codecs []codec.Codec, limit time.Duration) (codings []cost.Coding, add float64) {
	src := r.arena[:min(sampleElements, r.plan.Len)]
	x := append([]float32(nil), src...)
	var residual []float32
	if r.config.ErrorFeedback && anyLossy(&r.lossy) {
		residual = make([]float32, len(x))
	}
	limit /= time.Duration(2*len(codecs) + 1)
	var payload []byte
	for _, c := range codecs {
		payload = c.Append(payload[:0], src)
		k := cost.Coding{Name: c.String(), Ratio: float64(4*len(x)) / float64(len(payload))}
		k.Encode = rate(4*len(x), limit, func() { payload = c.AppendKeep(payload[:0], x, residual) })
		k.Decode = rate(4*len(x), limit, func() { mustFit(c.DecodeAdd(x, payload)) })
		codings = append(codings, k)
	}
	payload = codec.None.Append(payload[:0], src)
	add = rate(4*len(x), limit, func() { mustFit(codec.None.DecodeAdd(x, payload)) })
	return codings, add
}

// mostRounds bounds the rounds of rate if the clock does not advance.
const mostRounds = 32

// rate returns the bytes per second of f, which processes so many bytes, after a warm-up round.
func rate(bytes int, limit time.Duration, f func()) float64 {
	f()
	start := time.Now()
	for n := 1; ; n++ {
		f()
		if took := time.Since(start); took >= limit || n == mostRounds {
			return float64(n*bytes) / max(took, 1).Seconds()
		}
	}
}

func mustFit(err error) {
	if err != nil {
		panic("bucket: a codec does not decode what it encoded")
	}
}
