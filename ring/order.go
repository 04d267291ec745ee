package ring

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring/exitcode"
)

// An Order is the way that a ring takes through the workers, and how it was found.
// A worker's place in it is its position, from 0; worker numbers are those of a
// Membership's Workers, which on the whole job are ranks.
//
// Everything that goes over links counts positions: who sends to whom, which
// chunk is whose, who is a partner in a round. What people and callers see counts
// ranks. All workers of a job must have the same Order.
type Order struct {
	Workers  []int  // by position; nil: position r is worker r
	Why      string // one line for people; "" where there is nothing to tell
	Measured bool   // by measurement, now or at an earlier start of the job
}

// newOrder returns the order of workers, which is nil in an Order that is that of
// their numbers.
func newOrder(workers []int, why string) Order {
	if inOrder(workers) {
		workers = nil
	}
	return Order{Workers: workers, Why: why}
}

func inOrder(workers []int) bool {
	for i, w := range workers {
		if w != i {
			return false
		}
	}
	return true
}

// checkOrder returns what keeps workers from being an order of size workers.
func checkOrder(workers []int, size int) error {
	seen := make([]bool, size)
	for _, w := range workers {
		switch {
		case w < 0 || w >= size:
			return fmt.Errorf("rank %d is in it, want each of 0 to %d once", w, size-1)
		case seen[w]:
			return fmt.Errorf("rank %d is in it twice, want each of 0 to %d once", w, size-1)
		}
		seen[w] = true
	}
	if i := slices.Index(seen, false); i >= 0 {
		return fmt.Errorf("rank %d is not in it, want each of 0 to %d once", i, size-1)
	}
	return nil
}

// FormatOrder is the text of an order of ranks, such as "0,2,1,3".
func FormatOrder(ranks []int) string {
	words := make([]string, len(ranks))
	for i, r := range ranks {
		words[i] = strconv.Itoa(r)
	}
	return strings.Join(words, ",")
}

// ParseRanks reads the text of an order of ranks. It has each number from 0 on
// once.
func ParseRanks(text string) ([]int, error) {
	var ranks []int
	for _, word := range strings.Split(text, ",") {
		r, err := strconv.ParseUint(strings.TrimSpace(word), 10, 31)
		if err != nil {
			return nil, errNoRanks
		}
		ranks = append(ranks, int(r))
	}
	return ranks, checkOrder(ranks, len(ranks))
}

var errNoRanks = errors.New("no list of ranks")

// An OrderRule says how the order of the ring is found. The zero OrderRule is
// "host". It must be the same on all ranks: compare String.
type OrderRule struct {
	word  string // "": host
	ranks []int  // of a list
}

// The rules that are no list.
const (
	orderAuto     = "auto"     // host, and from four hosts on measured
	orderRank     = "rank"     // in order of rank
	orderHost     = "host"     // through each host once
	orderMeasured = "measured" // through each host once, by the bandwidth between hosts
)

// Where measuring takes place. Three hosts have one ring as far as bandwidth is
// the same both ways, and whoever asks for it gets the better way around. auto
// leaves out what would take long.
const (
	leastHosts     = 3
	leastAutoHosts = 4
	mostAutoHosts  = 32
)

// ParseOrder reads "auto", "rank", "host", "measured", or the ranks in the order
// that the ring goes through them, such as "0,2,1,3". Errors are exitcode.Usage.
func ParseOrder(text string) (OrderRule, error) {
	if slices.Contains([]string{orderAuto, orderRank, orderHost, orderMeasured}, text) {
		return OrderRule{word: text}, nil
	}
	ranks, err := ParseRanks(text)
	if errors.Is(err, errNoRanks) {
		err = errors.New("want auto, rank, host, measured, or all ranks in order, such as 0,2,1,3")
	}
	if err != nil {
		return OrderRule{}, exitcode.With(exitcode.Usage, fmt.Errorf("order is %q: %w", text, err))
	}
	return OrderRule{word: FormatOrder(ranks), ranks: ranks}, nil
}

// String returns what ParseOrder makes o of.
func (o OrderRule) String() string {
	if o.word == "" {
		return orderHost
	}
	return o.word
}

// Measures tells whether the order of m's ring is found by measuring.
func (o OrderRule) Measures(m Membership) bool {
	hosts := m.Hosts()
	return o.word == orderMeasured && hosts >= leastHosts ||
		o.word == orderAuto && hosts >= leastAutoHosts && hosts <= mostAutoHosts
}

// Of returns the order of m's ring without measuring. A list that is not one of
// m's ranks is an error with exitcode.Usage.
func (o OrderRule) Of(m Membership) (Order, error) {
	switch {
	case len(o.ranks) > 0:
		if err := checkOrder(o.ranks, m.Size()); err != nil {
			return Order{}, exitcode.With(exitcode.Usage, fmt.Errorf("order is %s: %w", o, err))
		}
		return newOrder(o.ranks, ""), nil
	case o.word == orderRank:
		return Order{}, nil
	}
	order := newOrder(slices.Concat(m.HostRanks()...), "")
	switch {
	case o.word == orderMeasured && !o.Measures(m):
		order.Why = fmt.Sprintf("%d hosts have one ring: there is nothing to measure", m.Hosts())
	case order.Workers != nil:
		order.Why = "the ranks of a host follow each other, so that the ring leaves each host once"
	}
	return order, nil
}

// KeptOrder returns the order that an earlier start of the job, or an earlier
// generation, has found by measuring, and whether it is one of m's ranks.
func KeptOrder(m Membership, ranks []int) (Order, bool) {
	if len(ranks) == 0 || checkOrder(ranks, m.Size()) != nil {
		return Order{}, false
	}
	order := newOrder(ranks, "measured earlier in this job, and kept")
	order.Measured = true
	return order, true
}

// fastEnough is the bandwidth, in bytes per second, from which on hops count as
// alike: a MiB takes 2 ms then, and how long processes wait for a core differs by as
// much.
const fastEnough = 500e6

// MeasuredOrder returns the order in which m's ring goes through each host once
// and its slowest hop between hosts is as fast as may be: see FastestRing.
// bandwidth[i][j] is that from host i to host j in bytes per second; hosts are in
// the order of HostRanks. What is faster than 500 MB/s counts as that.
func MeasuredOrder(m Membership, bandwidth [][]float64) Order {
	hosts := m.HostRanks()
	counted := make([][]float64, len(hosts))
	for i, row := range bandwidth {
		for _, rate := range row {
			counted[i] = append(counted[i], min(rate, fastEnough))
		}
	}
	way := FastestRing(counted)
	var ranks []int
	for _, h := range way {
		ranks = append(ranks, hosts[h]...)
	}
	first := make([]int, len(hosts))
	for h := range first {
		first[h] = h
	}
	slowest, byHost := slowestHop(counted, way), slowestHop(counted, first)
	order := newOrder(ranks, "")
	order.Measured = true
	if inOrder(way) {
		order.Why = fmt.Sprintf("no order of the hosts is faster by a fifth; the slowest hop does %s", rateText(slowest))
	} else {
		order.Why = fmt.Sprintf("the slowest hop between hosts does %s, by order of host %s", rateText(slowest), rateText(byHost))
	}
	return order
}

// rateText is a rate for people.
func rateText(bytesPerSecond float64) string {
	text := fmt.Sprintf("%.3g MB/s", bytesPerSecond/1e6)
	if bytesPerSecond >= fastEnough {
		text += " or more"
	}
	return text
}

// places tells workers from positions, and back.
type places struct {
	worker   []int // by position
	position []int // by worker
	me       int   // this worker's position
}

func (m Membership) places() places {
	p := places{make([]int, m.Size()), make([]int, m.Size()), 0}
	for at := range p.worker {
		w := m.workerAt(at)
		p.worker[at], p.position[w] = w, at
	}
	p.me = p.position[m.Rank]
	return p
}

// workerAt returns the worker at a position.
func (m Membership) workerAt(position int) int {
	if m.Order.Workers == nil {
		return position
	}
	return m.Order.Workers[position]
}

// Position returns this worker's place in the ring.
func (m Membership) Position() int {
	if m.Order.Workers == nil {
		return m.Rank
	}
	return slices.Index(m.Order.Workers, m.Rank)
}

// InRing returns the ranks in the order of the ring, and this worker's position:
// what RingRoute and RoundRoutes take. On a part of the job, see Across, they are
// ranks of the job.
func (m Membership) InRing() (ranks []int, me int) {
	ranks = make([]int, m.Size())
	for at := range ranks {
		ranks[at] = m.Workers[m.workerAt(at)].Rank
	}
	return ranks, m.Position()
}
