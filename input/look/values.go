package look

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	mostValues = 100 // values of a column that are counted one by one
	mostValue  = 100 // bytes of such a value
)

// A Value is a text of a column and the records that have it.
type Value struct {
	Text    string `json:"text"`
	Records int64  `json:"records"`
}

// counts counts values, mostValues at most. Its zero value has none.
type counts struct {
	places [256]uint8 // open addressing: places in all, from 1; 0: free
	hashes []uint64   // of all
	all    []Value
}

// find returns the place in c.places of a hash, or the free one for it.
func (c *counts) find(h uint64) uint8 {
	at := uint8(h >> 20)
	for ; c.places[at] != 0 && c.hashes[c.places[at]-1] != h; at++ { // uint8: around
	}
	return at
}

// add counts a value with a hash. It returns false where there is no room for one more.
func (c *counts) add(h uint64, text []byte, records int64) bool {
	at := c.find(h)
	if p := c.places[at]; p != 0 {
		c.all[p-1].Records += records
		return true
	}
	if len(c.all) == mostValues || len(text) > mostValue {
		return false
	}
	c.hashes, c.all = append(c.hashes, h), append(c.all, Value{string(text), records})
	c.places[at] = uint8(len(c.all))
	return true
}

// values counts the values of a column, all of them.
type values struct {
	mu     sync.Mutex
	hashes distinct
	counts counts
	many   atomic.Bool   // there are more than mostValues, or longer ones: counts has not all
	mask   atomic.Uint64 // of the bits that are 0 in each hash that hashes keeps
}

// part is what one part of the text has of a column. Its counts are those of all parts in the slot.
type part struct {
	reads  content // how the job of a check reads the column; empty: by its cells
	tally  tally
	counts counts // until many
	many   bool
	hashes []uint64 // of the cells after that, of parts before, too
	mask   uint64   // of values, as it was when the part began
}

// Hashes of a part wait until they are many, of a column or of all: when they are taken, most then find what they are
// compared with in a cache of the processor.
const (
	mostWaiting = 1 << 14
	allWaiting  = 1 << 20
)

// begin has p begin a part.
func (p *part) begin(v *values) {
	p.mask = v.mask.Load()
	if !p.many && v.many.Load() {
		p.overflow()
	}
}

// add counts a cell.
func (p *part) add(cell []byte) {
	h := hash(cell)
	if !p.many {
		if p.counts.add(h, cell, 1) {
			return
		}
		p.overflow()
	}
	if h&p.mask == 0 {
		p.hashes = append(p.hashes, h)
	}
}

// overflow makes hashes of what was counted.
func (p *part) overflow() {
	for i, h := range p.counts.hashes {
		for range min(p.counts.all[i].Records, 2) {
			p.hashes = append(p.hashes, h)
		}
	}
	p.many, p.counts = true, counts{}
}

// take takes the hashes of a part if there are more than few, and of the last one all, and the counts.
func (v *values) take(p *part, few int, last bool) {
	if len(p.hashes) <= few && !last {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.many {
		v.many.Store(true)
	}
	for _, h := range p.hashes {
		v.hashes.add(h)
	}
	v.mask.Store(1<<v.hashes.level - 1)
	p.hashes = p.hashes[:0]
	if !last {
		return
	}
	for i, h := range p.counts.hashes {
		n := &p.counts.all[i]
		for range min(n.Records, 2) { // twice is again
			v.hashes.add(h)
		}
		if !v.counts.add(h, []byte(n.Text), n.Records) {
			v.many.Store(true)
		}
	}
}

// list returns the values, the most frequent first; nil if there are many.
func (v *values) list() []Value {
	if v.many.Load() {
		return nil
	}
	return slices.SortedFunc(slices.Values(v.counts.all), func(a, b Value) int {
		if a.Records != b.Records {
			return int(b.Records - a.Records)
		}
		return strings.Compare(a.Text, b.Text)
	})
}
