package bench

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/codec"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
)

// TestWorst verifies that the worst trial may have an error of either sign, and that a
// missed bound is reported.
func TestWorst(t *testing.T) {
	trials := []Trial{{Error: 0.1}, {Error: -0.151, Forecast: Forecast{Wire: "1gbit", Hosts: 8, Bytes: 8 << 20, Codec: "int8"}}, {Error: 0.15}}
	w := WorstOf(trials)
	if w.Error != -0.151 || w.Trials != 3 || w.Met || !strings.Contains(w.String(), "worst of 3: -15.1% at 1gbit, 8 hosts, 8MiB, int8; want at most 15%: SHORT") {
		t.Errorf("worst is %+v: %v", w, w)
	}
	if w := WorstOf(trials[2:]); !w.Met || !strings.HasSuffix(w.String(), "met") {
		t.Errorf("worst is %+v, want met", w)
	}
}

// TestTrial verifies that a forecast is compared with the measurement of the same cell.
func TestTrial(t *testing.T) {
	r := cost.Rates{SpareCore: true, Add: 1e12}
	got, err := trial(Wire{"1gbit", 1e8}, 2, r, Row{Bytes: 1 << 20, Codec: "none", Time: 0.0125})
	if err != nil {
		t.Fatal(err)
	}
	if got.Predicted < 0.0104857 || got.Predicted > 0.01049 || got.Error > -0.16 || got.Error < -0.162 || got.Codec != "none" || got.Hosts != 2 {
		t.Errorf("trial is %+v, want 10.486 ms of 12.5", got)
	}
	if _, err := trial(Wire{"1gbit", 1e8}, 2, r, Row{Codec: "zip"}); err == nil {
		t.Error("a row with an unknown codec is taken")
	}
}

// TestHopOf verifies the time of a hop, and that HopOf refuses other output.
func TestHopOf(t *testing.T) {
	good := `{"event":"memory"}` + "\n" + `{"event":"bench","bytes":1024,"time_s":0.0006}` + "\n"
	if hop, err := HopOf([]byte(good), 4); err != nil || hop != 100*time.Microsecond {
		t.Errorf("hop is %v, error %v, want 100µs: 6 steps", hop, err)
	}
	for _, bad := range []string{"", "x\n", `{"event":"bench","time_s":0}`, `{"event":"bench","time_s":1,"wrong":2}`, `{"event":"bench","time_s":"1"}`} {
		if hop, err := HopOf([]byte(bad), 4); err == nil {
			t.Errorf("printed=%s: hop is %v, want an error", bad, hop)
		}
	}
}

// TestSharedCores verifies that each rank gets its share of the cores, and that the
// measured rates do not change.
func TestSharedCores(t *testing.T) {
	r := cost.Rates{Sockets: 8, Add: 16, Memory: 4, Codings: []cost.Coding{{Name: "c", Ratio: 2, Encode: 32, Decode: 64}}}
	got := sharedCores(r, 8, 2)
	if !got.Uneven || got.Sockets != 2 || got.Add != 4 || got.Memory != 1 || got.Codings[0] != (cost.Coding{Name: "c", Ratio: 2, Encode: 8, Decode: 16}) {
		t.Errorf("a rank gets %+v, want a quarter", got)
	}
	if got := sharedCores(r, 2, 4); got.Uneven || got.Sockets != 8 || r.Codings[0].Encode != 32 {
		t.Errorf("a rank with cores enough gets %+v, want all", got)
	}
}

// TestLatencyOf verifies that the latency excludes the work that the model counts, and
// is never negative.
func TestLatencyOf(t *testing.T) {
	r := cost.Rates{Sockets: 8e6, Add: 16e6}
	const us = time.Microsecond
	work := 512*us + 128*us // 4 KiB through sockets; half of the steps add 4 KiB
	if got := latencyOf(time.Millisecond, r, codec.None, 8); got != time.Millisecond-work {
		t.Errorf("latency is %v, want 1ms less %v", got, work)
	}
	if got := latencyOf(10*us, r, codec.None, 8); got != 0 {
		t.Errorf("latency is %v where the core explains more than all, want 0", got)
	}
}

// TestPerSecond verifies that an unmeasurable amount or time gives an unlimited rate.
func TestPerSecond(t *testing.T) {
	for _, tt := range []struct{ n, seconds, want float64 }{{6, 2, 3}, {0, 2, math.Inf(1)}, {-6, 2, math.Inf(1)}, {6, 0, math.Inf(1)}, {6, -2, math.Inf(1)}} {
		if got := perSecond(tt.n, tt.seconds); got != tt.want {
			t.Errorf("n=%g seconds=%g: rate is %g, want %g", tt.n, tt.seconds, got, tt.want)
		}
	}
}

// TestCheckUsage verifies that CheckScale refuses a bad config before it makes
// namespaces.
func TestCheckUsage(t *testing.T) {
	good := CheckConfig{Hosts: []int{2}, Wires: []Wire{{"1gbit", 1e8}}, Sizes: []int{8}, Codecs: []codec.Codec{codec.None}, Budget: 1}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*CheckConfig){
		"--budget is 0s": func(c *CheckConfig) { c.Budget = 0 },
		"-np has 65":     func(c *CheckConfig) { c.Hosts = []int{65} },
		"-np has 1,":     func(c *CheckConfig) { c.Hosts = []int{1} },
	} {
		c := good
		change(&c)
		err := CheckScale(t.Context(), c, cost.Rates{}, func(Trial) error { return nil })
		if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want exitcode.Usage and %q", err, want)
		}
	}
}

// TestLaunches verifies that each round measures every size, and small sizes several
// times.
func TestLaunches(t *testing.T) {
	c := CheckConfig{Codecs: []codec.Codec{codec.None, codec.Int8}, Budget: 1500 * time.Millisecond}
	for _, tt := range []struct {
		sizes []int
		want  []string
	}{
		{[]int{128 << 10, 2 << 20, 512 << 10, 8 << 20}, []string{"128KiB,512KiB", "128KiB,512KiB", "128KiB,512KiB", "2MiB,8MiB"}},
		{[]int{8}, []string{"8", "8", "8"}},
		{[]int{1 << 20}, []string{"1MiB"}},
	} {
		c.Sizes = tt.sizes
		var got []string
		for _, args := range c.launches() {
			sizes, rest, _ := strings.Cut(strings.TrimPrefix(strings.Join(args, " "), "--sizes="), " ")
			if rest != "--codec=none,int8 --budget=300ms --batch=32MiB" {
				t.Errorf("sizes=%v: options %q", tt.sizes, args)
			}
			got = append(got, sizes)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("sizes=%v: launches of %v, want %v", tt.sizes, got, tt.want)
		}
	}
}

// TestChecked verifies that medians assigns times to the right cells.
func TestChecked(t *testing.T) {
	var m checked
	row := func(bytes int, codec string, time float64) Row { return Row{Bytes: bytes, Codec: codec, Time: time} }
	m.add([]Row{row(8, "none", 3), row(8, "int8", 30)})
	m.add([]Row{row(8, "none", 1), row(8, "int8", 20)})
	m.add([]Row{row(8, "none", 2), row(8, "int8", 70)})
	m.add([]Row{row(64, "none", 5)})
	if got, want := m.medians(), []Row{row(8, "none", 2), row(8, "int8", 30), row(64, "none", 5)}; !slices.Equal(got, want) {
		t.Errorf("medians are %+v, want %+v", got, want)
	}
}
