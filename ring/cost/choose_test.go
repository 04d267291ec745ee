package cost

import (
	"strings"
	"testing"
	"time"
)

const mib = 1 << 20

// stepOf returns a step with the given compute time, five lossy buckets and an exact one. The
// first buckets are full before the end of backward.
func stepOf(compute time.Duration) Buckets {
	b := Buckets{Step: compute, Each: []Bucket{{Bytes: 2048, Exact: true}}}
	for left := 4; left >= 0; left-- {
		b.Each = append(b.Each, Bucket{Bytes: mib, Left: time.Duration(left) * compute / 10})
	}
	return b
}

func rates(gbits float64, codings ...Coding) Rates {
	r := ratesAt(gbits, false)
	r.Codings = codings
	return r
}

// TestChoose verifies each branch of the codec rule.
func TestChoose(t *testing.T) {
	fast, plain := []Coding{bf16Fast, fp16Fast, int8Fast}, []Coding{bf16Plain, fp16Plain, int8Plain}
	with := func(r Rates, change func(*Rates)) Rates { change(&r); return r }
	ms := time.Millisecond
	for _, tt := range []struct {
		name string
		r    Rates
		b    Buckets
		want string
		why  string
	}{
		{"100 Mbit/s", rates(0.1, fast...), stepOf(100 * ms), "int8 assembly", "a rank sends 12.5 MB/s: with it training waits "},
		{"1 Gbit/s", rates(1, fast...), stepOf(10 * ms), "int8 assembly", "without 63"},
		{"10 Gbit/s, portable", rates(10, plain...), stepOf(1 * ms), "bf16 plain", "without"},
		{"40 Gbit/s, portable", rates(40, plain...), stepOf(1 * ms), "none", "no codec makes the "},
		{"hidden behind backward", rates(10, fast...), stepOf(10 * time.Second), "none", "in a step of 10s, less than 3%"},
		{"small buckets", rates(0.001, fast...), Buckets{Step: ms, Each: []Bucket{{Bytes: WorthBytes - 4}, {Bytes: mib, Exact: true}}},
			"none", "no bucket that a codec may touch has 64 KiB"},
		{"nothing to send", rates(1, fast...), Buckets{Step: ms}, "none", "no bucket"},
		{"no codecs", rates(0.1), stepOf(ms), "none", "no codec makes"},
		{"gain below a tenth", rates(0.1, Coding{"c", 1.1, 100 * gb, 100 * gb}), stepOf(ms), "none", "no codec"},
		{"gain above a tenth", rates(0.1, Coding{"c", 1.2, 100 * gb, 100 * gb}), stepOf(ms), "c", ""},
		{"equal codecs: the safer", rates(0.1, bf16Fast, fp16Fast), stepOf(ms), "bf16 assembly", ""},
		{"hops take the time", with(rates(10, fast...), func(r *Rates) { r.Latency = 2 * ms }), stepOf(ms), "none", ""},
		{"coding beside the wire", with(rates(20, plain...), func(r *Rates) { r.SpareCore = true }),
			Buckets{Step: ms, Each: []Bucket{{Bytes: 64 * mib}}}, "bf16 plain", ""},
		{"one segment: nothing beside it", with(rates(20, plain...), func(r *Rates) { r.SpareCore = true }), stepOf(ms), "none", "no codec makes"},
	} {
		t.Run("case="+tt.name, func(t *testing.T) {
			got := Choose(tt.r, tt.b, Layout{4, 1})
			if got.Codec != tt.want || !strings.Contains(got.Why, tt.why) {
				t.Errorf("decision is %+v, want %s because %q", got, tt.want, tt.why)
			}
			if got.Exposed > got.None || got.Codec == "none" && got.Exposed != got.None {
				t.Errorf("predicts %v with %s and %v without", got.Exposed, got.Codec, got.None)
			}
			if got != Choose(tt.r, tt.b, Layout{4, 1}) {
				t.Error("another decision of the same rates: ranks would differ")
			}
		})
	}
}

// TestChooseByBandwidth verifies that no step waits longer on a faster wire, and that no codec
// is chosen that was not worth its cost on a slower one.
func TestChooseByBandwidth(t *testing.T) {
	for _, codings := range [][]Coding{{bf16Plain, fp16Plain, int8Plain}, {bf16Fast, fp16Fast, int8Fast}} {
		for _, spare := range []bool{false, true} {
			exposed, none := forever, false
			seen := map[string]bool{}
			for gbits := 0.01; gbits < 1000; gbits *= 1.05 {
				r := rates(gbits, codings...)
				r.SpareCore = spare
				d := Choose(r, stepOf(time.Millisecond), Layout{4, 1})
				if d.None > exposed {
					t.Fatalf("none waits %v at %g Gbit/s, less on a slower wire: %v", d.None, gbits, exposed)
				}
				if none && d.Codec != "none" {
					t.Fatalf("%s is chosen at %g Gbit/s, and none on a slower wire", d.Codec, gbits)
				}
				exposed, none = d.None, d.Codec == "none"
				seen[d.Codec] = true
			}
			if len(seen) < 2 || !seen["none"] {
				t.Errorf("%s, spare=%t: only %v are chosen from 10 Mbit/s to 1 Tbit/s", codings[0].Name, spare, seen)
			}
		}
	}
}

// TestExposed verifies that time hidden behind backward does not count, and that coding is not
// hidden where it takes the core from backward.
func TestExposed(t *testing.T) {
	// With two ranks, a byte takes 1 µs of wire and 0.5 µs of CPU, and the headers of
	// the two steps take 72 µs. A chunk of one segment overlaps with no other.
	r := Rates{Bandwidth: 1e6, Add: 1e6}
	buckets := func(each ...Bucket) Buckets { return Buckets{Each: each} }
	const ms, us = time.Millisecond, time.Microsecond
	for _, tt := range []struct {
		name        string
		b           Buckets
		want, spare time.Duration
	}{
		{"nothing", buckets(), 0, 0},
		{"behind backward", buckets(Bucket{Bytes: 10000}), 15072 * us, 15072 * us},
		{"half hidden", buckets(Bucket{Bytes: 10000, Left: 5 * ms}), 10072 * us, 10072 * us},
		{"all hidden", buckets(Bucket{Bytes: 10000, Left: time.Second}), 5 * ms, 0},
		{"second waits for first", buckets(Bucket{Bytes: 10000, Left: 5 * ms}, Bucket{Bytes: 10000, Left: 4 * ms}), 25144 * us, 25144 * us},
		{"pause between", buckets(Bucket{Bytes: 10000, Left: 50 * ms}, Bucket{Bytes: 10000}), 15072 * us, 15072 * us},
	} {
		t.Run("case="+tt.name, func(t *testing.T) {
			if got := Exposed(r, None, tt.b, Layout{2, 1}); got != tt.want {
				t.Errorf("exposed are %v, want %v", got, tt.want)
			}
			with := r
			with.SpareCore = true
			if got := Exposed(with, None, tt.b, Layout{2, 1}); got != tt.spare {
				t.Errorf("with a spare core %v, want %v", got, tt.spare)
			}
		})
	}
}
