package cost

import (
	"fmt"
	"slices"
	"time"
)

// The rule of Choose. A wire that is fast enough, or a small bucket, has
// nothing to gain; and a codec that gains little is not worth its loss of bits.
const (
	WorthBytes = 64 << 10 // a smaller bucket goes without codec: latency is most of its time

	TooSmall = "no bucket that a codec may touch has 64 KiB"

	worthShare = 0.03 // of a step: less than this exposed needs no codec
	worthGain  = 0.10 // of what is exposed: the least gain for which to change
)

// A Bucket is a piece of the gradients that is summed as one.
type Bucket struct {
	Bytes int64         // of float32
	Exact bool          // no codec touches it
	Left  time.Duration // of backward, when it is filled
}

// Buckets is what a step exchanges.
type Buckets struct {
	Step time.Duration // a whole step without codec, as measured
	Each []Bucket      // in the order in which they leave
}

// A Decision says which codec a run uses, and why.
type Decision struct {
	Codec   string
	Why     string
	Exposed time.Duration // of a step: what the model predicts for Codec
	None    time.Duration // what it predicts without codec
}

// Choose returns the codec that leaves least of the exchange exposed. It is
// none if no bucket that a codec may touch has WorthBytes, or if none leaves
// less than 3 % of the step exposed. A coding is preferred to none and to those
// before it in r.Codings only if it exposes at least a tenth less than they do.
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

// Exposed returns how long training waits for the exchange of a step with the
// coding c, which touches buckets from WorthBytes on that are not exact.
func Exposed(r Rates, c Coding, b Buckets, l Layout) time.Duration {
	var cpu time.Duration
	end := -forever // of the last bucket, counted from the end of backward
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

func (k Bucket) worthCoding() bool { return !k.Exact && k.Bytes >= WorthBytes }

// Worth tells whether a codec may touch any bucket, and the bucket is large
// enough. If not, Choose takes none for the reason TooSmall, whatever the rates.
func (b Buckets) Worth() bool {
	return slices.ContainsFunc(b.Each, Bucket.worthCoding)
}

// rounded has three digits, about.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
