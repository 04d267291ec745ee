package bench

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// scaleRates returns the rates of a machine that only its wire limits.
func scaleRates() cost.Rates {
	return cost.Rates{
		Latency: 10 * time.Microsecond, Sockets: 1e10, Add: 3e10, Memory: 1e10, SpareCore: true,
		Codings: []cost.Coding{{Name: "int8", Ratio: 3.94, Encode: 3e10, Decode: 3e10}},
	}
}

func scaleOf(ranks ...int) ScaleConfig {
	return ScaleConfig{
		Ranks: ranks, Wires: []Wire{{"100mbit", 12e6}, {"10gbit", 1.2e9}},
		Sizes: []int{8, 8 << 10, 128 << 10, 8 << 20}, Codecs: []codec.Codec{codec.None, codec.Int8},
		Algorithm: ring.ByAuto,
	}
}

// TestParseWire verifies the parsing of rates and the refusal of other texts.
func TestParseWire(t *testing.T) {
	for text, bits := range map[string]float64{"100mbit": 1e8, "2.5gbit": 2.5e9, "800kbit": 8e5} {
		w, err := ParseWire(text)
		if want := bits / 8 * 1448 / 1538; err != nil || w.Name != text || !(math.Abs(w.Rate/want-1) <= 1e-9) {
			t.Errorf("wire=%s: %+v, error %v, want %g bytes/s", text, w, err, want)
		}
	}
	for _, text := range []string{"", "1", "gbit", "-1gbit", "0mbit", "NaNgbit", "infgbit", "1e9gbit", "1 gbit", "1GiB"} {
		if w, err := ParseWire(text); exitcode.Of(err) != exitcode.Usage {
			t.Errorf("wire=%q: %+v, error %v, want exitcode.Usage", text, w, err)
		}
	}
}

// TestScale verifies that every cell has the algorithm of a ring and a time that fits
// the wire.
func TestScale(t *testing.T) {
	var got []string
	var last Forecast
	err := Scale(scaleOf(2, 1000), scaleRates(), func(row []Forecast) error {
		for _, f := range row {
			got = append(got, fmt.Sprintf("%s %d %d %s %s", f.Wire, f.Bytes, f.Ranks, f.Codec, f.Algorithm))
			if f.Hosts != f.Ranks || !(f.Predicted > 0) || !(f.BusBW > 0) {
				t.Errorf("forecast is %+v, want one host a rank and a time", f)
			}
		}
		last = row[0]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, wire := range []string{"100mbit", "10gbit"} {
		for _, s := range []struct {
			bytes       int
			two, byInt8 string
		}{
			{8, "doubling", "doubling"},
			{8 << 10, "doubling", "ring"}, // with a codec auto chooses the ring from 4 KiB on
			{128 << 10, "ring", "ring"},
			{8 << 20, "ring", "ring"},
		} {
			want = append(want,
				fmt.Sprintf("%s %d 2 none %s", wire, s.bytes, s.two), fmt.Sprintf("%s %d 1000 none ring", wire, s.bytes),
				fmt.Sprintf("%s %d 2 int8 %s", wire, s.bytes, s.byInt8), fmt.Sprintf("%s %d 1000 int8 ring", wire, s.bytes))
		}
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("cells are\n%s\nwant\n%s", g, w)
	}
	// Two ranks send the buffer once; int8 makes it 1/3.94 of its size; a hop takes 10
	// µs.
	if wire := float64(8<<20) / 3.94 / 1.2e9; last.Predicted < wire || last.Predicted > wire+100e-6 {
		t.Errorf("8 MiB by int8 take %g s, want a little more than %g", last.Predicted, wire)
	}
}

// TestScaleHosts verifies that the ranks of a host share its wire and its work: together
// they send as much as one rank.
func TestScaleHosts(t *testing.T) {
	c := scaleOf(8)
	c.Hosts = 2
	one, many := c.forecast(c.Wires[0], 8<<20, codec.None, 2, scaleRates()), c.forecast(c.Wires[0], 8<<20, codec.None, 8, scaleRates())
	if many.Hosts != 2 || !(math.Abs(many.Predicted/one.Predicted-1) <= 0.01) {
		t.Errorf("8 ranks on 2 hosts: %+v, want about the %g s of 2 ranks", many, one.Predicted)
	}
	c.Hosts = 1
	if f := c.forecast(c.Wires[0], 8<<20, codec.Int8, 4, scaleRates()); f.Algorithm != "memory" || f.Predicted > 1e-3 {
		t.Errorf("on one host: %+v, want memory's speed", f)
	}
}

// TestScaleTable verifies that a forecast is in the column of its world size.
func TestScaleTable(t *testing.T) {
	c := scaleOf(2, 8)
	head := ScaleHead(c)
	line := ScaleLine([]Forecast{{Wire: "1gbit", Bytes: 8 << 20, Codec: "int8", Predicted: 0.0178}, {Predicted: 1.25}})
	if len(head) != len(line) || !strings.Contains(line, "8MiB") || !strings.Contains(line, "17.8ms") || !strings.HasSuffix(line, " 1.25s") {
		t.Errorf("table is\n%s\n%s", head, line)
	}
	for seconds, want := range map[float64]string{2.94e-7: "0.294us", 999.4e-6: "999us", 999.6e-6: "1ms", 0.0123: "12.3ms", 12.3456: "12.35s"} {
		if got := timeText(seconds); got != want {
			t.Errorf("seconds=%g: %s, want %s", seconds, got, want)
		}
	}
}

// TestScaleUsage verifies that Check names every impossible option.
func TestScaleUsage(t *testing.T) {
	for want, change := range map[string]func(*ScaleConfig){
		"-np has 1, want 2":          func(c *ScaleConfig) { c.Ranks = []int{1} },
		"-np has 2000000":            func(c *ScaleConfig) { c.Ranks = []int{2000000} },
		"want a multiple of the 3":   func(c *ScaleConfig) { c.Hosts = 3 },
		"--hosts is -1":              func(c *ScaleConfig) { c.Hosts = -1 },
		"codecs are missing":         func(c *ScaleConfig) { c.Codecs = nil },
		"--sizes has 3 bytes":        func(c *ScaleConfig) { c.Sizes = []int{3} },
		"sizes are missing":          func(c *ScaleConfig) { c.Sizes = nil },
		"ranks, wires or codecs are": func(c *ScaleConfig) { c.Wires = nil },
	} {
		c := scaleOf(2, 8)
		change(&c)
		err := Scale(c, scaleRates(), func([]Forecast) error { return nil })
		if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want exitcode.Usage and %q", err, want)
		}
	}
}

// TestChoice verifies that the predicted time is that of the algorithm that a group takes.
func TestChoice(t *testing.T) {
	sizes := []int{4, 128, 132, 1 << 10, 1<<10 + 4, 4 << 10, 4<<10 + 4, 32 << 10, 32<<10 + 4, 512 << 10, 512<<10 + 4}
	for _, text := range []string{"auto", "ring", "halving", "doubling"} {
		for _, p := range []int{2, 3, 8, 9} {
			t.Run(fmt.Sprintf("algorithm=%s/ranks=%d", text, p), func(t *testing.T) {
				cfg := ring.DefaultConfig()
				var err error
				if cfg.Algorithm, err = ring.ParseAlgorithm(text); err != nil {
					t.Fatal(err)
				}
				hosts := make([]int, p)
				for rank := range hosts {
					hosts[rank] = rank
				}
				ringtest.RunOnHostsOver(t, hosts, memlink.Mesh(p), cfg, func(g *ring.Group) error {
					for _, bytes := range sizes {
						for _, cd := range []codec.Codec{codec.None, codec.Int8} {
							got, want := choice(cfg.Algorithm, cd, bytes, cost.Layout{Hosts: p, Local: 1}), g.Algorithm(bytes, cd).String()
							if got != want {
								t.Errorf("bytes=%d codec=%v: %s, want the group's %s", bytes, cd, got, want)
							}
						}
					}
					return nil
				})
			})
		}
	}
}

// TestChoiceOfMany verifies that small buffers go by ring if the tails of all ranks
// exceed half a frame of 64 KiB.
func TestChoiceOfMany(t *testing.T) {
	for l, want := range map[cost.Layout]string{{Hosts: 512, Local: 1}: "doubling", {Hosts: 513, Local: 1}: "ring", {Hosts: 128, Local: 4}: "doubling", {Hosts: 128, Local: 5}: "ring"} {
		if got := choice(ring.ByAuto, codec.None, 8, l); got != want {
			t.Errorf("hosts=%d local=%d: %s, want %s", l.Hosts, l.Local, got, want)
		}
	}
}

// TestCoreRates verifies that every rate is measured.
func TestCoreRates(t *testing.T) {
	r, err := CoreRates(t.Context(), []codec.Codec{codec.None, codec.Int8})
	if err != nil {
		t.Fatal(err)
	}
	if !(r.Add > 0 && r.Memory > 0 && r.Sockets > 0) || len(r.Codings) != 1 {
		t.Fatalf("rates are %+v, want all above 0 and one coding", r)
	}
	if k := r.Codings[0]; k.Name != "int8" || !(k.Encode > 0 && k.Decode > 0) || !(math.Abs(k.Ratio-3.94) <= 0.01) {
		t.Errorf("coding is %+v, want int8 of ratio 3.94", k)
	}
}
