package ring_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
)

// TestParseAlgorithms verifies what each table is read as, and that texts of one table have one
// String. Otherwise ranks that agree would refuse each other, or ranks that do not agree would
// wait for each other.
func TestParseAlgorithms(t *testing.T) {
	for text, want := range map[string]string{
		"auto":                               "auto",
		"ring":                               "ring",
		"fold":                               "fold",
		"<=2KiB:fold,<=32KiB:doubling,ring":  "<=2KiB:fold,<=32KiB:doubling,ring",
		"<=2048:fold,<=32768B:doubling,ring": "<=2KiB:fold,<=32KiB:doubling,ring",
		"<=0:fold,ring":                      "<=0:fold,ring",
		"<=1000:fold,ring":                   "<=1000:fold,ring",
		"<=1025KiB:doubling,ring":            "<=1025KiB:doubling,ring",
		"<=1GiB:doubling,ring":               "<=1GiB:doubling,ring",
		"<=1KiB:ring,<=2KiB:ring,fold":       "<=2KiB:ring,fold",
		"<=1KiB:ring,ring":                   "ring",
	} {
		a, err := ring.ParseAlgorithms(text)
		if err != nil || a.String() != want {
			t.Errorf("%q: %v, %v, want %s", text, a, err, want)
		}
		if again, err := ring.ParseAlgorithms(a.String()); err != nil || again.String() != want {
			t.Errorf("%q again: %v, %v, want %s", a, again, err, want)
		}
	}
}

// TestParseAlgorithmsErrors verifies the message for each mistake in a table.
func TestParseAlgorithmsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   `algorithm is "": no algorithm "", want one of ring, doubling, halving, fold`,
		"rings":                              `no algorithm "rings", want one of`,
		"<=2KiB:fold":                        `rule "<=2KiB:fold" is the last, want a name without a size`,
		"ring,fold":                          `rule "ring" is for all sizes, want it last`,
		"<=2KiB:fold,<=2KiB:doubling,ring":   `rule "<=2KiB:doubling" comes after <=2KiB, want sizes that rise`,
		"<=2KB:fold,ring":                    `rule "<=2KB:fold" begins with "<=2KB", want <= and a size, such as <=32KiB`,
		"2KiB:fold,ring":                     `rule "2KiB:fold" begins with "2KiB", want <=`,
		"<=:fold,ring":                       `begins with "<="`,
		"<=-1:fold,ring":                     `begins with "<=-1"`,
		"<=99999999999999999999:fold,ring":   `begins with`,
		"<=2147483647GiB:fold,<=1:ring,fold": `comes after`,
		"<=1KiB:auto,ring":                   `no algorithm "auto"`,
		"auto,ring":                          `no algorithm "auto"`,
	} {
		_, err := ring.ParseAlgorithms(text)
		if err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.Usage {
			t.Errorf("%q: error %v with exit code %d, want %q with %d", text, err, exitcode.Of(err), want, exitcode.Usage)
		}
	}
}

// TestAuto verifies that the table of auto is one that a user could pass.
func TestAuto(t *testing.T) {
	for p := 1; p <= 1000; p++ {
		for _, s := range spreads(p) {
			auto := ring.Algorithms{}.Of(s)
			again, err := ring.ParseAlgorithms(auto.String())
			if err != nil || fmt.Sprint(again.Of(s)) != auto.String() || auto.String() == "auto" {
				t.Errorf("%+v: table %v reads as %v, %v", s, auto, again, err)
			}
		}
	}
	if (ring.Algorithms{}).String() != "auto" {
		t.Errorf("the zero table is %v, want auto", ring.Algorithms{})
	}
}

// TestAutoTable verifies the table of auto. A change would give a resumed job other sums.
func TestAutoTable(t *testing.T) {
	for s, want := range map[ring.Spread]string{
		{2, 1, 1}:    "<=32KiB:doubling,ring",
		{2, 2, 2}:    "<=32KiB:doubling,ring",
		{6, 1, 1}:    "<=32KiB:doubling,ring",
		{6, 1, 6}:    "<=256:tree,<=32KiB:doubling,ring",
		{64, 1, 1}:   "<=32KiB:doubling,<=512KiB:halving,ring",
		{64, 2, 4}:   "<=32KiB:doubling,<=512KiB:halving,ring",
		{64, 2, 64}:  "<=256:tree,<=32KiB:doubling,<=512KiB:halving,ring",
		{3, 3, 3}:    "<=32KiB:tree,ring",
		{4, 3, 3}:    "<=32KiB:tree,<=512KiB:halving,ring",
		{4, 4, 4}:    "<=64KiB:tree,<=128KiB:halving,<=256KiB:tree,<=512KiB:halving,ring",
		{8, 8, 8}:    "<=256KiB:tree,<=512KiB:halving,ring",
		{9, 9, 9}:    "<=32KiB:tree,ring",
		{64, 16, 16}: "<=32KiB:tree,<=512KiB:halving,ring",
	} {
		if got := (ring.Algorithms{}).Of(s).String(); got != want {
			t.Errorf("%+v: table %s, want %s", s, got, want)
		}
	}
}

// spreads are ranks that have a machine each, are containers of one, share a host,
// and share one but for the last.
func spreads(p int) []ring.Spread {
	return []ring.Spread{{p, 1, 1}, {p, 1, p}, {p, p, p}, {p, max(p-1, 1), max(p-1, 1)}}
}

// TestSpread verifies that workers in containers of one machine count as workers of that
// machine.
func TestSpread(t *testing.T) {
	var m ring.Membership
	for _, id := range []string{"a/1", "a/2", "a/2", "b/1", "c", "a/3"} {
		m.Workers = append(m.Workers, ring.Worker{HostID: id})
	}
	if got, want := m.Spread(), (ring.Spread{Workers: 6, PerHost: 2, PerMachine: 4}); got != want {
		t.Errorf("spread is %+v, want %+v", got, want)
	}
}

// TestAutoOnAnyHosts verifies that, in one order of the ring, the bits of auto's sums do not
// depend on the hosts of the ranks. Otherwise the same job would end differently on another
// cluster.
func TestAutoOnAnyHosts(t *testing.T) {
	for p := 1; p <= 9; p++ {
		for _, bytes := range []int{4, 1 << 10, 32 << 10, 32<<10 + 4, 64 << 10, 64<<10 + 4, 128<<10 + 4, 512 << 10, 512<<10 + 4} {
			in := inputs(p, bytes/4)
			sums := map[ring.Spread][]float32{}
			for _, s := range spreads(p) {
				cfg := by(t, ring.Algorithms{}.Of(s).String())
				overMesh(t, memlink.Mesh(p), cfg, func(g *ring.Group) error {
					buf := slices.Clone(in[g.Membership().Rank])
					err := g.AllReduce(t.Context(), ring.Reduction{Buf: buf})
					if g.Membership().Rank == p-1 {
						sums[s] = buf
					}
					return err
				})
			}
			for s, sum := range sums {
				sameBits(t, fmt.Sprintf("%+v bytes=%d", s, bytes), sum, sums[spreads(p)[0]])
			}
		}
	}
}

// FuzzParseAlgorithms verifies that no text makes the parser panic, and that an accepted text
// is that of its table.
func FuzzParseAlgorithms(f *testing.F) {
	f.Add("<=2KiB:fold,<=32KiB:doubling,ring")
	f.Add("auto")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ring.ParseAlgorithms(text)
		if err != nil {
			return
		}
		if again, err := ring.ParseAlgorithms(a.String()); err != nil || again.String() != a.String() {
			t.Errorf("%q is %v, and that is %v, %v", text, a, again, err)
		}
	})
}
