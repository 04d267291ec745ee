package hosts

import (
	"fmt"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Mapping is the order in which ranks are assigned to hosts.
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

// Assignment is the host of a rank, and its number among the ranks of that host.
type Assignment struct {
	Rank                 int
	Host                 int // index
	LocalRank, LocalSize int // local rank and local size
}

// Assign assigns each of np ranks to a host. Without hosts all ranks are on one host
// without bound. Fewer slots than ranks are exitcode.Usage: ranks that share a core by
// accident are slow, without any message.
func Assign(np int, hosts []Host, by Mapping) ([]Assignment, error) {
	if len(hosts) == 0 {
		hosts = []Host{{Slots: np}}
	}
	if slots := TotalSlots(hosts); np > slots {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%d ranks are asked for, more than %s on %s (%s): give more hosts or slots, or a smaller -np",
			np, phrase.Count(slots, "slot"), phrase.Count(len(hosts), "host"), Summary(hosts)))
	}
	list, taken := make([]Assignment, 0, np), make([]int, len(hosts))
	for h := 0; len(list) < np; {
		if taken[h] == hosts[h].Slots {
			h = (h + 1) % len(hosts)
			continue
		}
		list = append(list, Assignment{Rank: len(list), Host: h, LocalRank: taken[h]})
		taken[h]++
		if by == ByNode {
			h = (h + 1) % len(hosts)
		}
	}
	for i := range list {
		list[i].LocalSize = taken[list[i].Host]
	}
	return list, nil
}

// Summary returns the first hosts of the list in the form that Parse reads, for people.
func Summary(hosts []Host) string {
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
