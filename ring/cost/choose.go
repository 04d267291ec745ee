package cost

import (
	"fmt"
	"slices"
	"time"
)

// The constants of Choose. A fast wire or a small bucket gains nothing from a codec. A codec
// that gains little is not worth the loss of bits.
const (
	WorthBytes = 64 << 10 // smaller buckets use no codec: latency is most of their time

	TooSmall = "no bucket that a codec may touch has 64 KiB"

	worthShare = 0.03 // share of a step: if less is exposed, no codec is used
	worthGain  = 0.10 // share of the exposed time that a codec must save
)

// Bucket is a piece of the gradients that is summed as one.
type Bucket struct {
	Bytes int64         // of float32
	Exact bool          // no codec applies to it
	Left  time.Duration // time until the end of backward when the bucket is full
}

// Buckets is the exchange of a step.
type Buckets struct {
	Step time.Duration // measured time of a whole step without codec
	Each []Bucket      // in the order in which they are sent
}

// Decision is the codec of a run, and the reason for it.
type Decision struct {
	Codec   string
	Why     string
	Exposed time.Duration // predicted for a step with Codec
	None    time.Duration // predicted for a step without codec
}

// Choose returns the codec with the least exposed exchange. It returns none if no bucket that a
// codec may touch has WorthBytes, or if none exposes less than 3 % of the step. A coding
// replaces none, or an earlier one in r.Codings, only if it exposes at least a tenth less.
func Choose(r Rates, b Buckets, l Layout) Decision {
	d := Decision{Codec: None.Name, None: Exposed(r, None, b, l)}
	d.Exposed = d.None
	if !b.Worth() {
		d.Why = TooSmall
		return d
	}
	sends := fmt.Sprintf("a rank sends %.4g MB/s: ", r.Bandwidth/1e6)
	if d.None.Seconds() < worthShare*b.Step.Seconds() {
		d.Why = fmt.Sprintf("%swithout a codec training waits %v for the exchange in a step of %v, less than %g%%",
			sends, rounded(d.None), rounded(b.Step), 100*worthShare)
		return d
	}
	for _, c := range r.Codings {
		if e := Exposed(r, c, b, l); e.Seconds() < (1-worthGain)*d.Exposed.Seconds() {
			d.Codec, d.Exposed = c.Name, e
		}
	}
	if d.Codec == None.Name {
		d.Why = fmt.Sprintf("%sno codec makes the %v a step that training waits for the exchange a tenth shorter", sends, rounded(d.None))
	} else {
		d.Why = fmt.Sprintf("%swith it training waits %v a step for the exchange, without %v", sends, rounded(d.Exposed), rounded(d.None))
	}
	return d
}

// Exposed returns the time that training waits for the exchange of a step with the coding c,
// which applies to buckets from WorthBytes on that are not exact.
func Exposed(r Rates, c Coding, b Buckets, l Layout) time.Duration {
	var cpu time.Duration
	end := -forever // of the last bucket, from the end of backward
	for _, k := range b.Each {
		use := None
		if k.worthCoding() {
			use = c
		}
		t := Predict(r, use, k.Bytes, l)
		end = min(max(end, -k.Left)+t.Total, forever)
		cpu = min(cpu+t.CPU, forever)
	}
	if r.SpareCore {
		cpu = 0
	}
	return max(end, cpu, 0)
}

func (b Bucket) worthCoding() bool { return !b.Exact && b.Bytes >= WorthBytes }

// Worth reports whether a codec may apply to any bucket. If not, Choose returns none for the
// reason TooSmall at any rates.
func (b Buckets) Worth() bool {
	return slices.ContainsFunc(b.Each, Bucket.worthCoding)
}

// rounded returns d with about three digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
