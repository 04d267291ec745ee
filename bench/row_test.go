package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/oracle"
	"ringtrain/ring/ringtest"
)

// TestBusBW verifies busbw against the formula of nccl-tests.
func TestBusBW(t *testing.T) {
	for ranks, want := range map[int]float64{1: 0, 2: 10, 4: 15, 8: 17.5} {
		if got := BusBW(10, ranks); got != want {
			t.Errorf("ranks=%d: busbw is %g at an algbw of 10, want %g", ranks, got, want)
		}
	}
	r := AllReduceConfig{}.row(codec.None, 250e6, 4, tally{Median: 2 * time.Second, P99: 3 * time.Second, OutOfPlace: 4 * time.Second})
	if r.Bytes != 1e9 || r.Time != 2 || r.P99 != 3 || r.AlgBW != 0.5 || r.BusBW != 0.75 || r.OutOfPlaceAlgBW != 0.25 || r.OutOfPlaceBusBW != 0.375 {
		t.Errorf("1 GB in 2 s over 4 ranks is %+v, want 0.5 GB/s and 0.75 GB/s", r)
	}
	if r := (AllReduceConfig{}).row(codec.None, 1, 1, tally{}); math.IsInf(r.AlgBW, 0) || math.IsNaN(r.BusBW) {
		t.Errorf("no time at all gives %g and %g GB/s, want numbers", r.AlgBW, r.BusBW)
	}
}

// TestPercentile verifies that a percentile is a measured time, by the nearest-rank
// method.
func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	tests := []struct {
		n, k int
		want time.Duration
	}{{1, 50, 1}, {1, 99, 1}, {2, 50, 1}, {3, 50, 2}, {20, 99, 20}, {100, 50, 50}, {100, 99, 99}}
	for _, tt := range tests {
		if got := percentile(hundred[:tt.n], tt.k); got != tt.want {
			t.Errorf("n=%d k=%d: %v, want %v", tt.n, tt.k, got, tt.want)
		}
	}
}

// TestTallyOverRanks verifies that the tally of all ranks includes each rank.
func TestTallyOverRanks(t *testing.T) {
	const p = 4
	ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
		rank := g.Membership().Rank
		mine := tally{Median: time.Duration(10 - rank), P99: time.Duration(20 + rank), OutOfPlace: time.Duration(rank),
			Sent: 3, Between: 2, Deviation: oracle.Deviation{Wrong: int64(rank), MaxError: float64(rank)}}
		got, err := mine.overRanks(t.Context(), g)
		if want := (tally{Median: 10, P99: 23, OutOfPlace: 3, Sent: 12, Between: 8, Deviation: oracle.Deviation{Wrong: 6, MaxError: 3}}); got != want {
			t.Errorf("rank %d: %+v, want %+v", rank, got, want)
		}
		return err
	})
}

// TestColumnsLineUp verifies that the table has the columns of nccl-tests and that its
// numbers are aligned.
func TestColumnsLineUp(t *testing.T) {
	head := strings.Split(Header, "\n")
	names := strings.Fields(strings.TrimPrefix(head[1], "#"))
	if want := strings.Fields("bytes elements type redop ranks codec time algbw busbw time p99 algbw busbw max_error wrong"); !slices.Equal(names, want) {
		t.Errorf("columns are %v, want %v", names, want)
	}
	if want := "# (us) (GB/s) (GB/s) (us) (us) (GB/s) (GB/s)"; strings.Join(strings.Fields(head[2]), " ") != want {
		t.Errorf("units are %q, want %q", head[2], want)
	}
	ends := columnEnds(head[1])
	for _, unit := range columnEnds(head[2])[1:] {
		if !slices.Contains(ends, unit) {
			t.Errorf("a unit ends at column %d, want one of %v", unit, ends)
		}
	}
	for _, r := range []Row{
		{Bytes: 8, Elements: 2, Ranks: 2, Codec: "none", Time: 1e-6, P99: 2e-6},
		{Bytes: maxBytes, Elements: maxBytes / 4, Ranks: 1000, Codec: "powersgd", Time: 999, P99: 999, AlgBW: 999, BusBW: 999, OutOfPlace: 999, OutOfPlaceAlgBW: 999, OutOfPlaceBusBW: 999, MaxError: 1.234e-10, Wrong: 1e9},
	} {
		if got := columnEnds(r.String()); !slices.Equal(got, ends[1:]) {
			t.Errorf("columns of\n%s\n%s\nend at %v, want %v", head[1], r, got, ends[1:])
		}
	}
}

// columnEnds returns the columns at which the words of a line end.
func columnEnds(line string) []int {
	var ends []int
	for i := range line {
		if line[i] != ' ' && (i+1 == len(line) || line[i+1] == ' ') {
			ends = append(ends, i+1)
		}
	}
	return ends
}

// TestJSON verifies the field names of a row's JSON, and that an error of NaN gives
// valid JSON.
func TestJSON(t *testing.T) {
	r := AllReduceConfig{Link: "tcp"}.row(codec.BF16, 250, 2, tally{
		Median: time.Microsecond, P99: 2 * time.Microsecond, OutOfPlace: 4 * time.Microsecond, Sent: 9, Between: 5, Deviation: oracle.Deviation{Wrong: 3, MaxError: math.NaN()}})
	r.Algorithm = "ring"
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"bytes":1000,"elements":250,"ranks":2,"algorithm":"ring","codec":"bf16","link":"tcp","time_s":0.000001,"p99_s":0.000002,` +
		`"algbw_gb_s":1,"busbw_gb_s":1,"out_of_place_time_s":0.000004,"out_of_place_algbw_gb_s":0.25,"out_of_place_busbw_gb_s":0.25,` +
		`"max_error":"NaN","wrong":3,"sent_bytes":9,"sent_between_hosts_bytes":5}`
	if string(got) != want {
		t.Errorf("row is\n%s\nwant\n%s", got, want)
	}
	if kind := r.Kind(); kind != "bench" {
		t.Errorf("event is %q, want bench", kind)
	}
}

// TestTableOfARun logs the table of a run.
func TestTableOfARun(t *testing.T) {
	rows := run(t, 2, AllReduceConfig{Sizes: []int{8, 16, 32}, Codecs: []codec.Codec{codec.None, codec.Int8}, Iterations: 1})
	if len(rows) != 6 {
		t.Fatalf("%d rows from 8 to 32 bytes with two codecs, want 6", len(rows))
	}
	table := Header
	for _, r := range rows {
		table += fmt.Sprintf("\n%v", r)
	}
	t.Log("\n" + table)
}

// TestSizeText verifies that a formatted size parses to the same number.
func TestSizeText(t *testing.T) {
	for n, want := range map[int]string{0: "0", 8: "8", 1000: "1000", 1024: "1KiB", 3 << 10: "3KiB", 8 << 20: "8MiB", 1<<20 + 1: "1048577", 1 << 30: "1GiB"} {
		if got := SizeText(n); got != want {
			t.Errorf("%d bytes are %s, want %s", n, got, want)
		}
	}
}
