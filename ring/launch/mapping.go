package launch

import (
	"fmt"
	"strings"

	"ringtrain/ring/exitcode"
)

// Mapping is the order in which ranks are given to hosts.
type Mapping int

const (
	BySlot Mapping = iota // a host's slots are filled before the next one's
	ByNode                // hosts take turns
)

// ParseMapping reads "slot" or "node".
func ParseMapping(s string) (Mapping, error) {
	switch s {
	case "", "slot":
		return BySlot, nil
	case "node":
		return ByNode, nil
	}
	return 0, exitcode.With(exitcode.Usage, fmt.Errorf("--map-by is %q, want slot or node", s))
}

// seat is where a rank runs, and as which of the ranks there.
type seat struct {
	rank      int
	host      int // index
	local, of int // local rank and local size
}

// assign gives each of np ranks its seat. Without hosts all are on one, which
// has no bound. Fewer slots than ranks are exitcode.Usage: ranks that share a
// core by accident are slow, and nobody would know why.
func assign(np int, hosts []Host, by Mapping) ([]seat, error) {
	if len(hosts) == 0 {
		hosts = []Host{{Slots: np}}
	}
	if slots := SlotsOf(hosts); np > slots {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%d ranks are asked for, there are %s on %s (%s): give more hosts or slots, or a smaller -np",
			np, count(slots, "slot"), count(len(hosts), "host"), listHosts(hosts)))
	}
	seats, taken := make([]seat, 0, np), make([]int, len(hosts))
	for h := 0; len(seats) < np; {
		if taken[h] == hosts[h].Slots {
			h = (h + 1) % len(hosts)
			continue
		}
		seats = append(seats, seat{rank: len(seats), host: h, local: taken[h]})
		taken[h]++
		if by == ByNode {
			h = (h + 1) % len(hosts)
		}
	}
	for i := range seats {
		seats[i].of = taken[seats[i].host]
	}
	return seats, nil
}

// listHosts is the list as ParseHosts reads it, cut to a length for people.
func listHosts(hosts []Host) string {
	const most = 8
	var words []string
	for _, h := range hosts[:min(len(hosts), most)] {
		words = append(words, h.String())
	}
	if len(hosts) > most {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// count is "1 host", "2 hosts".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ranksText is "rank 1", "ranks 1, 3" or "ranks 1-4". There is at least one, in
// ascending order.
func ranksText(ranks []int) string {
	n := len(ranks)
	switch {
	case n == 1:
		return fmt.Sprint("rank ", ranks[0])
	case n > 2 && ranks[n-1]-ranks[0] == n-1:
		return fmt.Sprintf("ranks %d-%d", ranks[0], ranks[n-1])
	}
	return "ranks " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ranks), " ", ", "), "[]")
}
