package cost

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// Rates in GB/s of the machine on which the golden numbers were computed.
const gb = 1e9

var (
	fp16Plain = Coding{"fp16 plain", 2, 0.94 * gb, 7.8 * gb}
	bf16Plain = Coding{"bf16 plain", 2, 4.4 * gb, 7.3 * gb}
	int8Plain = Coding{"int8 plain", 3.94, 1.12 * gb, 5.9 * gb}
	fp16Fast  = Coding{"fp16 assembly", 2, 48.6 * gb, 48.5 * gb}
	bf16Fast  = Coding{"bf16 assembly", 2, 38.2 * gb, 47.6 * gb}
	int8Fast  = Coding{"int8 assembly", 3.94, 30.9 * gb, 45 * gb}
)

const gbit = 1e9 / 8 // bytes/s of a Gbit/s

func ratesAt(gbits float64, spare bool) Rates {
	return Rates{Bandwidth: gbits * gbit, Add: 32.2 * gb, SpareCore: spare}
}

// speedup returns the ratio of the times of a bucket without c and with c.
func speedup(r Rates, c Coding, l Layout) float64 {
	const n = 1 << 40 // so large that rounding to nanoseconds does not matter
	return Predict(r, None, n, l).Total.Seconds() / Predict(r, c, n, l).Total.Seconds()
}

// breakEven returns the bandwidth in Gbit/s beyond which c makes a bucket slower.
func breakEven(c Coding, l Layout, spare bool) float64 {
	lo, hi := 0.01, 10000.0
	for hi-lo > 1e-6*lo {
		mid := (lo + hi) / 2
		if speedup(ratesAt(mid, spare), c, l) > 1 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// TestGolden verifies the model against published numbers, which were computed separately from
// the same rates and are given with two or three digits.
func TestGolden(t *testing.T) {
	two, eight := Layout{2, 1}, Layout{8, 1}
	for _, tt := range []struct {
		c                     Coding
		serial2, serial8, lap float64    // break-even, Gbit/s: 2 and 8 ranks; 8 with a spare core
		at                    [4]float64 // speed-up on 1, 10, 25, 100 Gbit/s, 8 ranks
	}{
		{fp16Plain, 3.4, 5.6, 10.9, [4]float64{1.69, 0.72, 0.37, 0.12}},
		{bf16Plain, 11.5, 15.9, 30, [4]float64{1.88, 1.22, 0.79, 0.31}},
		{int8Plain, 5.7, 9.0, 11.8, [4]float64{2.96, 0.92, 0.44, 0.14}},
		{fp16Fast, 156, 237, 247, [4]float64{1.99, 1.89, 1.74, 1.32}},
		{bf16Fast, 126, 196, 222, [4]float64{1.99, 1.87, 1.71, 1.26}},
		{int8Fast, 153, 237, 196, [4]float64{3.87, 3.35, 2.75, 1.57}},
	} {
		t.Run("codec="+tt.c.Name, func(t *testing.T) {
			near := func(what string, got, want float64) {
				digit := math.Pow(10, math.Floor(math.Log10(want))-1) // the second one
				if !(math.Abs(got-want) <= max(0.51*digit, 0.012*want)) {
					t.Errorf("%s is %.4g, want %g", what, got, want)
				}
			}
			near("break-even of 2 ranks", breakEven(tt.c, two, false), tt.serial2)
			near("break-even of 8 ranks", breakEven(tt.c, eight, false), tt.serial8)
			near("break-even of 8 ranks with a spare core", breakEven(tt.c, eight, true), tt.lap)
			for i, gbits := range []float64{1, 10, 25, 100} {
				near(fmt.Sprintf("speed-up at %g Gbit/s", gbits), speedup(ratesAt(gbits, false), tt.c, eight), tt.at[i])
			}
		})
	}
}

// TestPredict verifies each part of the formula: latency, headers, the share of the ranks of a
// host, the sum within it, and the overlap of segments with latency.
func TestPredict(t *testing.T) {
	r := Rates{Bandwidth: 1e6, Latency: time.Millisecond, Add: 4e6, Memory: 16e6}
	half := Coding{"half", 2, 8e6, 4e6}
	with := func(r Rates, change func(*Rates)) Rates { change(&r); return r }
	spare := with(r, func(r *Rates) { r.SpareCore = true })
	sockets := with(r, func(r *Rates) { r.Sockets = 2e6 })
	const ms, us = time.Millisecond, time.Microsecond
	const many = 4 * segmentBytes // 8 segments in 2 chunks: 2.097152 s of wire, 262.144 ms of adding
	for _, tt := range []struct {
		name string
		r    Rates
		c    Coding
		n    int64
		l    Layout
		want Time
	}{
		{"one rank", r, None, 8e6, Layout{1, 1}, Time{}},
		{"one host", r, half, 8e6, Layout{1, 4}, Time{Total: 500 * ms}},
		{"one segment", r, None, 800e3, Layout{2, 1}, Time{802072 * us, 100 * ms, 902072 * us}},
		{"one segment, half", r, half, 800e3, Layout{2, 1}, Time{402072 * us, 300 * ms, 702072 * us}},
		{"one segment, spare core", spare, half, 800e3, Layout{2, 1}, Time{402072 * us, 300 * ms, 702072 * us}},
		{"many segments", r, None, many, Layout{2, 1}, Time{2097152*us + 144*us + ms, 262144 * us, 2097152*us + 144*us + 262144*us + ms}},
		{"many segments, spare core", spare, None, many, Layout{2, 1}, Time{2097152*us + 144*us + ms, 262144 * us, 2097152*us + 144*us + ms}},
		{"four hosts of two ranks", r, None, 800e3, Layout{4, 2}, Time{606216 * us, 125 * ms, 731216*us - 2}},
		{"two hosts of two ranks, spare core", spare, None, 2 * many, Layout{2, 2}, Time{2097152*us + 144*us + ms, 2 * 262144 * us, 2097152*us + 144*us + ms}},
		{"through sockets", sockets, half, 800e3, Layout{2, 1}, Time{402072 * us, 500 * ms, 901072 * us}},
		{"through sockets while the wire sends", with(sockets, func(r *Rates) { r.SpareCore, r.Bandwidth = true, 0.5e6 }), half, 800e3, Layout{2, 1},
			Time{802144 * us, 500 * ms, 2 * (400072*us + ms + 150*ms + 32768*us)}},
		{"through TLS", with(sockets, func(r *Rates) { r.TLS = 1e6 }), half, 800e3, Layout{2, 1},
			Time{402072 * us, 900 * ms, 402072*us + 900*ms - ms - 400*ms + 400*ms}},
		{"nothing but hops", r, None, 0, Layout{1000, 1}, Time{1998 * ms, 0, 1998 * ms}},
	} {
		t.Run("case="+tt.name, func(t *testing.T) {
			if got := Predict(tt.r, tt.c, tt.n, tt.l); got != tt.want {
				t.Errorf("time is %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestPredictFaster verifies that no time grows on a faster wire, with up to a thousand hosts,
// and that rates of zero do not overflow.
func TestPredictFaster(t *testing.T) {
	for _, hosts := range []int{2, 3, 8, 64, 1000} {
		for _, c := range []Coding{None, bf16Fast, int8Plain} {
			before := forever
			for gbits := 0.0; gbits < 200; gbits = 1.5*gbits + 0.001 {
				got := Predict(ratesAt(gbits, hosts%2 == 0), c, 1<<30, Layout{hosts, 1}).Total
				if got > before || got <= 0 {
					t.Fatalf("hosts=%d codec=%s: %v at %g Gbit/s after %v on a slower wire", hosts, c.Name, got, gbits, before)
				}
				before = got
			}
		}
	}
	nothing := Rates{Latency: math.MaxInt64}
	for _, c := range []Coding{None, {Name: "zero"}} {
		if got := Predict(nothing, c, math.MaxInt64, Layout{math.MaxInt32, 1}); got != (Time{forever, forever, forever}) {
			t.Errorf("codec=%s: without rates it takes %v, want for ever", c.Name, got)
		}
	}
}

// TestBandwidth verifies that Predict with the bandwidth of a measured time returns that
// time.
func TestBandwidth(t *testing.T) {
	const n = 4 << 20
	for _, r := range []Rates{
		{Bandwidth: 12.5e6, Add: 5e9},
		{Bandwidth: 1e9, Add: 5e9, Latency: 50 * time.Microsecond},
		{Bandwidth: 1e9, Add: 5e9, SpareCore: true},
		{Bandwidth: 3e8, Add: 5e9, Memory: 8e9, Latency: time.Millisecond},
	} {
		for _, l := range []Layout{{2, 1}, {4, 1}, {2, 4}} {
			blind := r
			blind.Bandwidth = math.NaN()
			got := Bandwidth(blind, Predict(r, None, n, l).Total, n, l)
			if !(math.Abs(got/r.Bandwidth-1) <= 1e-5) {
				t.Errorf("%+v in %+v: bandwidth is read as %g", r, l, got)
			}
		}
	}
	// A time that leaves nothing for the wire must still give a rate.
	for _, took := range []time.Duration{0, 1, time.Millisecond} {
		got := Bandwidth(Rates{Add: 1, Latency: time.Hour}, took, n, Layout{2, 1})
		if !(got > 0) || math.IsInf(got, 1) {
			t.Errorf("took=%v: bandwidth is %g", took, got)
		}
	}
}

// TestPredictMisuse verifies that invalid layouts and sizes panic.
func TestPredictMisuse(t *testing.T) {
	for _, l := range []Layout{{}, {2, 0}, {-1, 1}} {
		func() {
			defer func() {
				if got := recover(); got != "cost: layout or size out of range" {
					t.Errorf("%+v: panic is %v", l, got)
				}
			}()
			Predict(Rates{}, None, 1, l)
		}()
	}
}
