package ring

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring/exitcode"
)

// Algorithm is a way to sum a buffer over links.
type Algorithm uint8

// The algorithms, by the size that they are for. log₂ p stands for the hops of
// recursive doubling, which are two more where p is no power of two.
const (
	// ByRing cuts the buffer into p chunks that go around the ring: the fewest
	// bytes, 2(p-1)/p of the buffer a rank, in 2(p-1) hops. It alone uses the
	// codec and the lossless compressor, and it is what all sizes take where
	// there are no links for doubling.
	ByRing Algorithm = iota

	// ByDoubling exchanges the whole buffer, summed so far, with one partner
	// after the other: log₂ p hops, and log₂ p times the buffer.
	ByDoubling

	// ByHalving sums halves of halves, each with another partner, and collects the
	// parts on the way back: 2·log₂ p hops, and 2(p-1)/p of the buffer where p is
	// a power of two, else twice the buffer more for some ranks (Rabenseifner,
	// "Optimization of collective reduction operations", 2004). Where there is a
	// codec or a compressor to use the ring takes its place.
	ByHalving

	// ByFold collects all ranks' buffers by doubling, then each rank sums them in
	// the order of ranks: log₂ p hops, and p-1 times the buffer.
	ByFold

	// ByTree sums up a binomial tree and hands the sum down: 2·log₂ p hops, and p-1
	// frames each way over all ranks, where doubling has p·log₂ p. Ranks that share
	// cores do not win by sending at the same time, and wait for fewer frames. The
	// sum is that of doubling, bit for bit.
	ByTree
)

var algorithmNames = [...]string{ByRing: "ring", ByDoubling: "doubling", ByHalving: "halving", ByFold: "fold", ByTree: "tree"}

func (a Algorithm) String() string { return algorithmNames[a] }

// Algorithms says which algorithm sums a buffer, by the buffer's size. The zero
// Algorithms is "auto", the table of this package. It must be the same on all
// ranks: compare String.
type Algorithms struct {
	rules []rule // in order of size; empty: auto
}

// A rule is the algorithm of buffers up to a size.
type rule struct {
	bytes     int // inclusive
	algorithm Algorithm
}

const unbounded = math.MaxInt

// crossovers is the table of auto. It was measured by processes that sum over
// TCP, 2 to 8 on 2 cores, each algorithm in turn (`ringtrain bench allreduce
// --tune` does the same):
//
//   - doubling takes 0.5 to 0.65 of the ring's time up to 32 KiB (2 to 8 ranks),
//     and about as long as halving at 64 KiB.
//   - halving takes 0.65 to 0.95 of the ring's time from 64 to 512 KiB. Beyond, the
//     ring adds one segment while the next is on its way; where ranks share cores
//     halving still takes 0.7 to 0.85 of its time up to 16 MiB, but the sum then had
//     other bits than between machines.
//   - fold takes as long as doubling while all ranks' buffers together are some
//     KiB, and longer beyond. It is for those who want sums in the order of ranks.
//
// Between hosts the wire bounds what is larger than some KiB, so halving, which
// sends no more than the ring, begins early, and only where p is a power of two.
//
// Where ranks of one machine sum over links, they share its cores, and what counts
// is the number of frames: on one host tree takes 0.7 to 0.85 of the time of the
// best other one up to 64 KiB among 4 and 8 ranks. Two ranks have no use for halving: the
// ring sends the same messages, and each way over a connection of its own, where at 128
// KiB what comes over one for both waits for what goes (0.87). Between four hosts that
// are namespaces of one machine tree takes 0.85 for 8 B. The rest of its limits is reckoned:
// a wire of 1 Gbit/s takes 2 µs for 256 B, which two hops more pay twice; between
// machines it crosses the wire twice as often as doubling, but with one frame for all
// ranks of a host.
//
// Doubling, tree and halving add in the same order. So which of them the table takes
// does not show in the bits: with the same order of the ring, a flat sum is the same
// wherever the ranks are.
var crossovers = [...]struct {
	wires            bool // the workers are on several machines
	workers, perHost int  // up to; the first row that fits counts
	table            string
}{
	{true, 2, 2, "<=32KiB:doubling,ring"},
	{true, unbounded, 2, "<=32KiB:doubling,<=512KiB:halving,ring"},
	{true, unbounded, unbounded, "<=32KiB:tree,<=512KiB:halving,ring"},
	{false, 2, 2, "<=32KiB:doubling,ring"},
	{false, unbounded, 2, "<=256:tree,<=32KiB:doubling,<=512KiB:halving,ring"},
	{false, 7, unbounded, "<=64KiB:tree,<=128KiB:halving,<=256KiB:tree,<=512KiB:halving,ring"},
	{false, unbounded, unbounded, "<=256KiB:tree,<=512KiB:halving,ring"},
}

// ringFrom is from where the ring is taken if the number of workers is no power of
// two.
const ringFrom = 32 << 10

// Of returns a with auto replaced by the table for workers that exchange over
// links.
func (a Algorithms) Of(s Spread) Algorithms {
	if !a.isAuto() {
		return a
	}
	i := 0
	for c := crossovers[i]; c.wires != (s.PerMachine < s.Workers) || s.Workers > c.workers || s.PerHost > c.perHost; c = crossovers[i] {
		i++
	}
	a, err := ParseAlgorithms(crossovers[i].table)
	if err != nil {
		panic("ring: a table of auto is none")
	}
	if (cube{s.Workers}).extras() > 0 {
		a.ringBeyond(ringFrom)
	}
	return a
}

// exactBytes is up to where auto has a codec unused: variables up to this size
// are in exact buckets anyway, and what is larger was meant to be compressed.
const exactBytes = 4 << 10

// Choose returns how workers that are spread as s sum a buffer of so many bytes over links, if
// each has tailBytes of tails. coded reports that there is a codec or a compressor to use.
//
// Whatever a says, it is the ring with tails too long for another algorithm, and where halving
// would have a codec or a compressor to use. The table of auto makes way for those from 4 KiB
// on; in a table that was given the sizes are exact.
func (a Algorithms) Choose(s Spread, bytes, tailBytes int, coded bool) Algorithm {
	if s.Workers*tailBytes > maxRoundsTails {
		return ByRing
	}
	return a.Of(s).choose(bytes, coded, a.isAuto())
}

// choose is Choose for a table that is not auto, where tails are short enough. auto reports that
// the table is one of auto's.
func (a Algorithms) choose(bytes int, coded, auto bool) Algorithm {
	by := a.at(bytes)
	if coded && (by == ByHalving || auto && bytes > exactBytes) {
		return ByRing
	}
	return by
}

func (a Algorithms) isAuto() bool { return len(a.rules) == 0 }

// ringBeyond takes the ring for all buffers that are larger.
func (a *Algorithms) ringBeyond(bytes int) {
	i := slices.IndexFunc(a.rules, func(r rule) bool { return r.bytes >= bytes })
	a.rules = append(a.rules[:i], rule{bytes, a.rules[i].algorithm}, rule{unbounded, ByRing})
}

// at returns the algorithm of a buffer. a is not auto.
func (a Algorithms) at(bytes int) Algorithm {
	for _, r := range a.rules {
		if bytes <= r.bytes {
			return r.algorithm
		}
	}
	panic("ring: algorithms without a last rule")
}

// String returns what [ParseAlgorithms] makes a of: one text for one table.
func (a Algorithms) String() string {
	if a.isAuto() {
		return "auto"
	}
	var rules []string
	for _, r := range a.rules {
		if r.bytes == unbounded {
			rules = append(rules, r.algorithm.String())
		} else {
			rules = append(rules, fmt.Sprintf("<=%s:%v", sizeText(r.bytes), r.algorithm))
		}
	}
	return strings.Join(rules, ",")
}

// ParseAlgorithms reads "auto", the name of one algorithm, or a table such as
// "<=2KiB:fold,<=32KiB:doubling,ring": sizes rise, are bytes, KiB, MiB or GiB,
// and the last rule has none. Errors are exitcode.Usage.
func ParseAlgorithms(text string) (Algorithms, error) {
	if text == "auto" {
		return Algorithms{}, nil
	}
	var a Algorithms
	least := -1
	words := strings.Split(text, ",")
	for i, word := range words {
		r, err := parseRule(word)
		switch {
		case err != nil:
		case i == len(words)-1 && r.bytes != unbounded:
			err = fmt.Errorf("rule %q is the last, want a name without a size", word)
		case i < len(words)-1 && r.bytes == unbounded:
			err = fmt.Errorf("rule %q is for all sizes, want it last", word)
		case r.bytes <= least:
			err = fmt.Errorf("rule %q comes after <=%s, want sizes that rise", word, sizeText(least))
		}
		if err != nil {
			return Algorithms{}, exitcode.With(exitcode.Usage, fmt.Errorf("algorithm is %q: %w", text, err))
		}
		least = r.bytes
		a.rules = append(a.rules, r)
	}
	return a.merged(), nil
}

// merged returns a without rules that the next one makes superfluous.
func (a Algorithms) merged() Algorithms {
	var rules []rule
	for i, r := range a.rules {
		if i+1 == len(a.rules) || a.rules[i+1].algorithm != r.algorithm {
			rules = append(rules, r)
		}
	}
	return Algorithms{rules}
}

func parseRule(word string) (rule, error) {
	size, name, bounded := strings.Cut(word, ":")
	r := rule{bytes: unbounded}
	if !bounded {
		name = word
	} else {
		limit, ok := strings.CutPrefix(size, "<=")
		n, err := parseSize(limit)
		if !ok || err != nil {
			return r, fmt.Errorf("rule %q begins with %q, want <= and a size, such as <=32KiB", word, size)
		}
		r.bytes = n
	}
	i := slices.Index(algorithmNames[:], name)
	if i < 0 {
		return r, fmt.Errorf("no algorithm %q, want one of %s", name, strings.Join(algorithmNames[:], ", "))
	}
	r.algorithm = Algorithm(i)
	return r, nil
}

// The units of sizes, the largest first.
var sizeUnits = [...]struct {
	name  string
	shift int
}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}, {"", 0}}

var errNoSize = errors.New("no size")

func parseSize(text string) (int, error) {
	for _, u := range sizeUnits {
		if digits, ok := strings.CutSuffix(text, u.name); ok {
			n, err := strconv.ParseUint(digits, 10, 62)
			if err != nil || n > unbounded>>u.shift-1 {
				return 0, errNoSize
			}
			return int(n) << u.shift, nil
		}
	}
	return 0, errNoSize
}

// sizeText is the shortest text of n bytes.
func sizeText(n int) string {
	for _, u := range sizeUnits {
		if n > 0 && n%(1<<u.shift) == 0 && u.name != "B" {
			return strconv.Itoa(n>>u.shift) + u.name
		}
	}
	return strconv.Itoa(n)
}
