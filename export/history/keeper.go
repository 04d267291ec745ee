package history

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"

	"ringtrain/model/train/report"
)

const (
	// blockBytes is about the size of a block of lines.
	blockBytes = 256 << 10

	// maxBlocks bounds the blocks. Beyond it the oldest go, the first one apart.
	maxBlocks = 64
)

// A Keeper holds the history of a run in memory, as lines. Several goroutines may call the methods. The
// zero Keeper is empty.
type Keeper struct {
	mu     sync.Mutex
	thin   thinner
	number int      // of the newest event
	blocks [][]byte // lines, oldest first, each behind its number and a blank; only appended to
}

// Add takes the next event and returns its number: 1, 2, 3 …
func (k *Keeper) Add(s report.Stamped) (number int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.number++
	for _, kept := range k.thin.add(s) {
		last := len(k.blocks) - 1
		if last < 0 || len(k.blocks[last]) >= blockBytes {
			k.blocks = append(k.blocks, nil)
			last++
		}
		k.blocks[last] = appendNumbered(k.blocks[last], k.number, kept)
	}
	if len(k.blocks) > maxBlocks {
		k.blocks = slices.Delete(k.blocks, 1, 2)
	}
	return k.number
}

// After yields the kept events above a number, each with its number and its line, oldest first. At its end
// it yields the sums that are still gathered, with the newest number. It holds nothing up while it yields.
func (k *Keeper) After(number int) iter.Seq2[int, []byte] {
	k.mu.Lock()
	defer k.mu.Unlock()
	var sums []byte
	for _, s := range k.thin.sums() {
		sums = appendNumbered(sums, k.number, s)
	}
	blocks := append(slices.Clone(k.blocks), sums)
	return func(yield func(int, []byte) bool) {
		for _, lines := range blocks {
			for text := range bytes.Lines(lines) {
				digits, text, _ := bytes.Cut(text, []byte(" "))
				at, _ := strconv.Atoi(string(digits)) // appendNumbered wrote it
				if at > number && !yield(at, text) {
					return
				}
			}
		}
	}
}

// appendNumbered appends the line of an event behind its number.
func appendNumbered(dst []byte, number int, s report.Stamped) []byte {
	text := line(s)
	if text == nil {
		return dst
	}
	return append(fmt.Appendf(dst, "%d ", number), text...)
}
