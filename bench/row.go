package bench

import (
	"fmt"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring/codec"
)

// Row is the result of one size and codec over all ranks. Its JSON form is a line of
// bench allreduce --json. Fields without out_of_place in their name are in place.
type Row struct {
	Bytes           int           `json:"bytes"`
	Elements        int           `json:"elements"`
	Ranks           int           `json:"ranks"`
	Algorithm       string        `json:"algorithm"`
	Codec           string        `json:"codec"`
	Link            string        `json:"link"`
	Time            float64       `json:"time_s"` // median of the slowest rank
	P99             float64       `json:"p99_s"`  // 99th percentile of the slowest rank
	AlgBW           float64       `json:"algbw_gb_s"`
	BusBW           float64       `json:"busbw_gb_s"`
	OutOfPlace      float64       `json:"out_of_place_time_s"` // includes a copy of the buffer; 0: not measured
	OutOfPlaceAlgBW float64       `json:"out_of_place_algbw_gb_s"`
	OutOfPlaceBusBW float64       `json:"out_of_place_busbw_gb_s"`
	MaxError        report.Number `json:"max_error"`                // largest |element - oracle| of all operations and ranks
	Wrong           int           `json:"wrong"`                    // elements outside of the codec's error bound
	Sent            int64         `json:"sent_bytes"`               // by all ranks in one operation, with headers
	Between         int64         `json:"sent_between_hosts_bytes"` // part of Sent that left its host
}

// Kind names the event.
func (Row) Kind() string { return "bench" }

// row returns the row of tally t for buffers of the given number of elements.
func (c AllReduceConfig) row(cd codec.Codec, elements, ranks int, t tally) Row {
	r := Row{
		Bytes: ElementBytes * elements, Elements: elements, Ranks: ranks,
		Codec: cd.String(), Link: c.Link,
		P99: t.P99.Seconds(), MaxError: report.Number(t.MaxError), Wrong: int(t.Wrong),
		Sent: t.Sent, Between: t.Between,
	}
	r.Time, r.AlgBW, r.BusBW = rates(r.Bytes, ranks, t.Median)
	if !c.InPlace {
		r.OutOfPlace, r.OutOfPlaceAlgBW, r.OutOfPlaceBusBW = rates(r.Bytes, ranks, t.OutOfPlace)
	}
	return r
}

// rates returns the time in seconds and the bandwidths in GB/s.
func rates(bytes, ranks int, took time.Duration) (seconds, algbw, busbw float64) {
	seconds = max(took, time.Nanosecond).Seconds() // a coarse clock may return 0
	algbw = float64(bytes) / seconds / 1e9
	return seconds, algbw, BusBW(algbw, ranks)
}

// BusBW returns the bus bandwidth of an all-reduce over the given number of ranks with
// the given algorithm bandwidth, in the same unit. Each rank sends 2(p-1)/p of the
// buffer over its link, so busbw is the rate of the link.
func BusBW(algbw float64, ranks int) float64 {
	return algbw * 2 * float64(ranks-1) / float64(ranks)
}

// Header is the head of the table of Row.String lines.
const Header = `#                                                            out-of-place                      in-place
#      bytes   elements   type  redop  ranks     codec         time    algbw    busbw         time          p99    algbw    busbw  max_error      wrong
#                                                              (us)   (GB/s)   (GB/s)         (us)         (us)   (GB/s)   (GB/s)`

// String returns a line of the table.
func (r Row) String() string {
	return fmt.Sprintf("%12d %10d %6s %6s %6d %9s %12.1f %8.3f %8.3f %12.1f %12.1f %8.3f %8.3f %10.2g %10d",
		r.Bytes, r.Elements, "float", "sum", r.Ranks, r.Codec, r.OutOfPlace*1e6, r.OutOfPlaceAlgBW, r.OutOfPlaceBusBW,
		r.Time*1e6, r.P99*1e6, r.AlgBW, r.BusBW, float64(r.MaxError), r.Wrong)
}

// SizeText formats a number of bytes as options accept it: 8, 2KiB, 128MiB.
func SizeText(bytes int) string {
	for _, u := range []struct {
		name  string
		shift int
	}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if bytes > 0 && bytes%(1<<u.shift) == 0 {
			return fmt.Sprintf("%d%s", bytes>>u.shift, u.name)
		}
	}
	return fmt.Sprint(bytes)
}
