package history

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"sync"

	"github.com/klauspost/compress/flate"

	"ringtrain/model/train/report"
)

const (
	// blockBytes is the size of the lines that are packed together.
	blockBytes = 256 << 10

	// maxPacked bounds the packed lines. Beyond it the oldest go, the first ones apart.
	maxPacked = 8 << 20
)

// A Keeper holds the history of a run in memory, as lines. Several goroutines may call the methods. The
// zero Keeper is empty.
type Keeper struct {
	mu     sync.Mutex
	thin   thinner
	number int     // of the newest event
	blocks []block // oldest first
	packed int     // bytes of the blocks
	tail   []byte  // the newest lines, each behind its number and a blank
}

// A block has packed lines, each behind its number and a blank.
type block struct {
	last   int // highest number
	packed []byte
}

// Add takes the next event and returns its number: 1, 2, 3 …
func (k *Keeper) Add(s report.Stamped) (number int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.number++
	for _, kept := range k.thin.add(s) {
		k.tail = appendNumbered(k.tail, k.number, kept)
	}
	if len(k.tail) >= blockBytes {
		k.pack()
	}
	return k.number
}

// pack packs the tail.
func (k *Keeper) pack() {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		panic("history: no such level")
	}
	w.Write(k.tail) // to memory
	w.Close()
	k.blocks = append(k.blocks, block{k.number, slices.Clip(b.Bytes())})
	k.packed += b.Len()
	k.tail = nil
	for k.packed > maxPacked && len(k.blocks) > 2 {
		k.packed -= len(k.blocks[1].packed)
		k.blocks = slices.Delete(k.blocks, 1, 2)
	}
}

// After yields the kept events above a number, each with its number and its line, oldest first. At its end
// it yields the sums that are still gathered, with the newest number. It holds nothing up while it yields.
func (k *Keeper) After(number int) iter.Seq2[int, []byte] {
	k.mu.Lock()
	blocks, tail := slices.Clone(k.blocks), bytes.Clone(k.tail)
	if number < k.number {
		for _, s := range k.thin.sums() {
			tail = appendNumbered(tail, k.number, s)
		}
	}
	k.mu.Unlock()
	return func(yield func(int, []byte) bool) {
		for _, b := range blocks {
			if b.last <= number {
				continue
			}
			lines, err := io.ReadAll(flate.NewReader(bytes.NewReader(b.packed)))
			if err != nil {
				panic("history: a block cannot be unpacked")
			}
			if !yieldLines(lines, number, yield) {
				return
			}
		}
		yieldLines(tail, number, yield)
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

// yieldLines yields the lines above a number. It reports whether more is wanted.
func yieldLines(lines []byte, above int, yield func(int, []byte) bool) bool {
	for text := range bytes.Lines(lines) {
		digits, text, _ := bytes.Cut(text, []byte(" "))
		number, _ := strconv.Atoi(string(digits)) // appendNumbered wrote it
		if number > above && !yield(number, text) {
			return false
		}
	}
	return true
}
