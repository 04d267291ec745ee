package bench

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// onLoopback calls fn once per rank with a group on loopback.
func onLoopback(t *testing.T, p int, fn func(g *ring.Group) error) {
	t.Helper()
	var ranks errgroup.Group
	for rank, link := range memlink.Ring(p) {
		m := ringtest.Membership(p, rank)
		for i := range m.Workers {
			m.Workers[i].Addr = "127.0.0.1:1"
		}
		g, err := ring.New(t.Context(), m, ring.Transport{Ring: link}, ring.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		ranks.Go(func() error { return fn(g) })
	}
	if err := ranks.Wait(); err != nil {
		t.Error(err)
	}
}

// TestLink verifies that every limit is measured, equal on all ranks and above 0.
func TestLink(t *testing.T) {
	const p = 3
	c := LinkConfig{Sizes: []int{8, 4096}, Duration: 20 * time.Millisecond}
	limits := make([][]Limit, p)
	onLoopback(t, p, func(g *ring.Group) error {
		rank := g.Membership().Rank
		return Link(t.Context(), g, c, func(l Limit) error {
			limits[rank] = append(limits[rank], l)
			return nil
		})
	})
	var got []string
	for _, l := range limits[0] {
		got = append(got, fmt.Sprintf("%s %d", l.What, l.Bytes))
		if l.Ranks != p || l.Time <= 0 || l.Rate <= 0 || l.What != "latency" && l.BusBW <= 0 {
			t.Errorf("limit %+v, want one of %d ranks above 0", l, p)
		}
	}
	if want := []string{"copy 8", "copy 4096", "stream 0", "latency 8"}; !slices.Equal(got, want) {
		t.Errorf("limits are %q, want %q", got, want)
	}
	for rank := range p {
		if !slices.Equal(limits[rank], limits[0]) {
			t.Errorf("rank %d has the limits\n%+v\nwant those of rank 0:\n%+v", rank, limits[rank], limits[0])
		}
	}
}

// TestLinkOnly verifies that Only measures a single limit, and that a single rank needs
// no neighbour.
func TestLinkOnly(t *testing.T) {
	for _, tt := range []struct {
		only  string
		ranks int
		want  []string
	}{{"copy", 2, []string{"copy"}}, {"stream", 2, []string{"stream"}}, {"", 1, []string{"copy"}}} {
		t.Run(fmt.Sprintf("only=%s/ranks=%d", tt.only, tt.ranks), func(t *testing.T) {
			var got []string
			onLoopback(t, tt.ranks, func(g *ring.Group) error {
				return Link(t.Context(), g, LinkConfig{Sizes: []int{8}, Duration: time.Millisecond, Only: tt.only}, func(l Limit) error {
					if g.Membership().Rank == 0 {
						got = append(got, l.What)
					}
					return nil
				})
			})
			if !slices.Equal(got, tt.want) {
				t.Errorf("measures %q, want %q", got, tt.want)
			}
		})
	}
}

// TestLinkCheck verifies that a bad config is refused.
func TestLinkCheck(t *testing.T) {
	err := LinkConfig{Duration: -1, Only: "x"}.Check()
	const want = "sizes are missing, want one or more\n--duration is -1ns, want 0 or more\n--only is \"x\", want copy or stream"
	if err == nil || err.Error() != want || exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v, code %d; want %q, code %d", err, exitcode.Of(err), want, exitcode.Usage)
	}
	if err := (LinkConfig{Sizes: []int{4}}).Check(); err != nil {
		t.Error(err)
	}
}

// TestWireRefusesStrangers verifies that a rank refuses a connection without its number.
func TestWireRefusesStrangers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	secret := []byte("0123456789abcdef")
	dial := func(first []byte) net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(first); err != nil {
			t.Fatal(err)
		}
		return c
	}
	stranger := dial([]byte("fedcba9876543210"))
	defer stranger.Close()
	var neighbour wire
	defer neighbour.close()
	if err := neighbour.call(context.Background(), append(slices.Clone(secret), l.Addr().String()...)); err != nil {
		t.Fatal(err)
	}
	w := new(wire)
	defer w.close()
	if err := w.accept(l.(*net.TCPListener), secret); err != nil {
		t.Fatal(err)
	}
	if got, want := w.left.RemoteAddr().String(), neighbour.right.LocalAddr().String(); got != want {
		t.Errorf("%s is taken for the neighbour, want %s", got, want)
	}
	if err := new(wire).call(t.Context(), []byte("short")); err == nil {
		t.Error("call accepts a neighbour without an address")
	}
}

// TestLimitColumns verifies the alignment of the columns.
func TestLimitColumns(t *testing.T) {
	line := Limit{What: "latency", Bytes: 128 << 20, Ranks: 1000, Time: 1e-3, Rate: 999, BusBW: 999}.String()
	ends := columnEnds(line)
	for _, word := range []string{"bytes", "ranks", "time", "rate"} {
		head := LimitHeader
		found := false
		for _, h := range splitLines(head) {
			for _, end := range columnEnds(h) {
				if end >= len(word) && h[end-len(word):end] == word && slices.Contains(ends, end) {
					found = true
				}
			}
		}
		if !found {
			t.Errorf("no number ends under %s:\n%s\n%s", word, LimitHeader, line)
		}
	}
}
