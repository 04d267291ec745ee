package launch

import (
	"fmt"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/internal/phrase"
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
			np, phrase.Count(slots, "slot"), phrase.Count(len(hosts), "host"), listHosts(hosts)))
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
