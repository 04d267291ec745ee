package blockcache

import "sync"

// Blocks maps the records of a data set to blocks.
type Blocks interface {
	// Find returns the block of a record and the record's number in it.
	Find(record int) (block, place int)

	// Count returns the number of records of a block.
	Count(block int) int
}

// Records reads records of the blocks of a Cache. The methods may be called from several
// goroutines.
type Records[T any] struct {
	cache  *Cache[T]
	blocks Blocks
	touch  func(block *T, places []Location) byte

	idle sync.Pool // *group[T]
}

// NewRecords returns the Records of a Cache whose keys are the numbers of blocks. Touch reads
// a byte of each cache line of records of a block.
func NewRecords[T any](c *Cache[T], blocks Blocks, touch func(block *T, places []Location) byte) *Records[T] {
	return &Records[T]{cache: c, blocks: blocks, touch: touch}
}

// groupRecords is how many records are read with one lock, and are fetched from memory side by
// side.
const groupRecords = 256

// Location is the place of a record.
type Location struct {
	Record int // of the data set
	Block  int
	Place  int // in the block
	run    int // of group.blocks
}

// group is records that are read together.
type group[T any] struct {
	places  []Location
	keys    []int // of blocks, without repetitions next to each other
	blocks  []*Block[T]
	touched byte
}

// Each calls visit for records in their order, and returns the first error of visit or of a load.
func (r *Records[T]) Each(records []int, visit func(at Location, block *T) error) error {
	g, ok := r.idle.Get().(*group[T])
	if !ok {
		g = new(group[T])
	}
	defer func() { // keeps the memory of the group, but none of its blocks: Purge and evict free those
		clear(g.blocks[:cap(g.blocks)])
		r.idle.Put(g)
	}()
	for len(records) > 0 {
		n := min(len(records), groupRecords)
		if err := r.group(g, records[:n], visit); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// group visits at most groupRecords records. Before the first visit group touches all of them:
// the processor then waits for many cache lines at a time.
func (r *Records[T]) group(g *group[T], records []int, visit func(at Location, block *T) error) error {
	r.find(g, records)
	var err error
	if g.blocks, err = r.cache.GetAll(g.blocks[:0], g.keys); err != nil {
		return err
	}
	defer r.cache.PutAll(g.blocks)
	for first := 0; first < len(g.places); {
		run, last := g.places[first].run, first+1
		for last < len(g.places) && g.places[last].run == run {
			last++
		}
		g.touched |= r.touch(&g.blocks[run].Data, g.places[first:last])
		first = last
	}
	for _, p := range g.places {
		if err := visit(p, &g.blocks[p.run].Data); err != nil {
			return err
		}
	}
	return nil
}

// find finds the places of records. Those of one block mostly follow each other.
func (r *Records[T]) find(g *group[T], records []int) {
	g.places, g.keys = g.places[:0], g.keys[:0]
	first, last := 0, 0 // records of the block found last
	for _, i := range records {
		if i < first || i >= last {
			block, place := r.blocks.Find(i)
			first = i - place
			last = first + r.blocks.Count(block)
			g.keys = append(g.keys, block)
		}
		run := len(g.keys) - 1
		g.places = append(g.places, Location{Record: i, Block: g.keys[run], Place: i - first, run: run})
	}
}
