package bench

import (
	"fmt"
	"time"

	"ringtrain/model/train"
	"ringtrain/ring/codec"
)

// Row is the result of one size and codec over all ranks. Its JSON form is a
// line of bench allreduce --json; what has no other name there is in place.
type Row struct {
	Bytes     int          `json:"bytes"`
	Elements  int          `json:"elements"`
	Ranks     int          `json:"ranks"`
	Algorithm string       `json:"algorithm"`
	Codec     string       `json:"codec"`
	Link      string       `json:"link"`
	Streams   int          `json:"streams"` // TCP connections of a ring to each neighbour; 0: none
	Time      float64      `json:"time_s"`  // the slowest rank's median
	P99       float64      `json:"p99_s"`   // the slowest rank's 99th percentile
	AlgBW     float64      `json:"algbw_gb_s"`
	BusBW     float64      `json:"busbw_gb_s"`
	Apart     float64      `json:"out_of_place_time_s"` // a copy of the buffer included; 0: not measured
	ApartAlg  float64      `json:"out_of_place_algbw_gb_s"`
	ApartBus  float64      `json:"out_of_place_busbw_gb_s"`
	MaxError  train.Number `json:"max_error"`                // largest |element - oracle| of all operations and ranks
	Wrong     int          `json:"wrong"`                    // elements further from the oracle than the codec may be
	Sent      int64        `json:"sent_bytes"`               // all ranks' in one operation, headers included
	Between   int64        `json:"sent_between_hosts_bytes"` // those of them that left their host
}

// Kind names the event.
func (Row) Kind() string { return "bench" }

// row is what t says about buffers of so many elements.
func (c AllReduceConfig) row(cd codec.Codec, elements, ranks int, t tally) Row {
	r := Row{
		Bytes: elementBytes * elements, Elements: elements, Ranks: ranks,
		Codec: cd.String(), Link: c.Link, Streams: c.Streams,
		P99: t.P99.Seconds(), MaxError: train.Number(t.MaxError), Wrong: int(t.Wrong),
		Sent: t.Sent, Between: t.Between,
	}
	r.Time, r.AlgBW, r.BusBW = rates(r.Bytes, ranks, t.Median)
	if !c.InPlace {
		r.Apart, r.ApartAlg, r.ApartBus = rates(r.Bytes, ranks, t.Apart)
	}
	return r
}

// rates returns the time in seconds and the bandwidths in GB/s.
func rates(bytes, ranks int, took time.Duration) (seconds, algbw, busbw float64) {
	seconds = max(took, time.Nanosecond).Seconds() // a coarse clock sees none pass
	algbw = float64(bytes) / seconds / 1e9
	return seconds, algbw, BusBW(algbw, ranks)
}

// BusBW is the bus bandwidth of an all-reduce over so many ranks with the given
// algorithm bandwidth, in the same unit: each rank sends 2(p-1)/p of the buffer
// over its link, so that is the rate of the link.
func BusBW(algbw float64, ranks int) float64 {
	return algbw * 2 * float64(ranks-1) / float64(ranks)
}

// Header is the head of the table that the lines of Row.String make.
const Header = `#                                                                    out-of-place                      in-place
#      bytes   elements   type  redop  ranks     codec streams         time    algbw    busbw         time          p99    algbw    busbw  max_error      wrong
#                                                                      (us)   (GB/s)   (GB/s)         (us)         (us)   (GB/s)   (GB/s)`

// String is one line of the table.
func (r Row) String() string {
	return fmt.Sprintf("%12d %10d %6s %6s %6d %9s %7d %12.1f %8.3f %8.3f %12.1f %12.1f %8.3f %8.3f %10.2g %10d",
		r.Bytes, r.Elements, "float", "sum", r.Ranks, r.Codec, r.Streams, r.Apart*1e6, r.ApartAlg, r.ApartBus,
		r.Time*1e6, r.P99*1e6, r.AlgBW, r.BusBW, float64(r.MaxError), r.Wrong)
}
