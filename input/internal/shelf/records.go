package shelf

import "sync"

// Blocks tells which block each record of a data set lies in.
type Blocks interface {
	// Find returns the block of a record and the record's number in it.
	Find(record int) (block, place int)

	// Count returns the number of records of a block.
	Count(block int) int
}

// Records reads records of blocks that a Shelf holds. Its methods may be called from several
// goroutines.
type Records[T any] struct {
	shelf  *Shelf[T]
	blocks Blocks
	touch  func(block *T, places []Place) byte
	idle   sync.Pool // of *group[T]
}

// NewRecords returns the Records of a Shelf whose keys are the numbers of blocks. Touch reads
// a byte of each cache line of records of a block.
func NewRecords[T any](s *Shelf[T], blocks Blocks, touch func(block *T, places []Place) byte) *Records[T] {
	return &Records[T]{shelf: s, blocks: blocks, touch: touch}
}

// groupRecords is how many records are read with one lock, and are fetched from memory side by
// side.
const groupRecords = 256

// Place is where a record lies.
type Place struct {
	Record int // of the data set
	Block  int
	Place  int // in the block
	run    int // of group.held
}

// group is records that are read together.
type group[T any] struct {
	places  []Place
	keys    []int // of blocks, without repetitions next to each other
	held    []*Block[T]
	touched byte
}

// Each calls visit for records in their order, and returns the first error of visit or of a load.
func (r *Records[T]) Each(records []int, visit func(at Place, block *T) error) error {
	g, ok := r.idle.Get().(*group[T])
	if !ok {
		g = new(group[T])
	}
	defer r.idle.Put(g)
	for len(records) > 0 {
		n := min(len(records), groupRecords)
		if err := r.group(g, records[:n], visit); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// group visits at most groupRecords records. Before the first visit it touches all of them: the
// processor then waits for many at a time.
func (r *Records[T]) group(g *group[T], records []int, visit func(at Place, block *T) error) error {
	r.find(g, records)
	var err error
	if g.held, err = r.shelf.GetAll(g.held[:0], g.keys); err != nil {
		return err
	}
	defer r.shelf.PutAll(g.held)
	for first := 0; first < len(g.places); {
		run, last := g.places[first].run, first+1
		for last < len(g.places) && g.places[last].run == run {
			last++
		}
		g.touched |= r.touch(&g.held[run].Data, g.places[first:last])
		first = last
	}
	for _, p := range g.places {
		if err := visit(p, &g.held[p.run].Data); err != nil {
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
		g.places = append(g.places, Place{Record: i, Block: g.keys[run], Place: i - first, run: run})
	}
}
