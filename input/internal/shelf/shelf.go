// Package shelf keeps the blocks of files in memory that were used last.
package shelf

import "sync"

// A Shelf holds blocks of a data set, each of them read by the first who asks for it. The
// block that was not used for longest gives its memory to the next one: when the blocks take
// more memory than the Shelf may hold, and also when the block is stale. Its methods may be
// called from several goroutines.
//
// In a shuffled order the blocks of a window are used in turn. A block is stale when all others
// were used several times since: its window has ended. So a rank that needs some of the blocks
// takes no more memory than those need, and uses memory again while it is in a cache.
type Shelf[T any] struct {
	load func(key int, into *T) (bytes int64, err error)
	most int64

	mu     sync.Mutex
	loaded *sync.Cond // some block is loaded, or could not be
	blocks map[int]*Block[T]
	bytes  int64 // of all blocks
	uses   int64 // of all blocks so far
	root   Block[T]
}

// staleTurns is how often all blocks were used since a stale one was. A block that is used at
// random with the same chance as all others stays unused so long with a chance of e^-staleTurns.
const staleTurns = 6

// Block is a block of a Shelf. Between Get and Put it does not change.
type Block[T any] struct {
	Data T

	key        int
	bytes      int64
	pins       int   // calls of Get without their Put
	used       int64 // Shelf.uses when it was used last
	loading    bool
	err        error     // of the load
	next, prev *Block[T] // in a circle through root; the next of root was used last
}

// New returns an empty Shelf that holds about most bytes, or more while more are in use.
// Load reads the block called key into memory that an older block may have left there. It
// returns how many bytes that memory has.
func New[T any](most int64, load func(key int, into *T) (bytes int64, err error)) *Shelf[T] {
	s := &Shelf[T]{load: load, most: most, blocks: map[int]*Block[T]{}}
	s.loaded = sync.NewCond(&s.mu)
	s.root.next, s.root.prev = &s.root, &s.root
	return s
}

// Get returns a block, which stays in memory until Put. It returns the error of the load to
// all who wait for it, and a later Get tries again.
func (s *Shelf[T]) Get(key int) (*Block[T], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.blocks[key]; b != nil {
		b.pins++
		for b.loading {
			s.loaded.Wait()
		}
		if b.err != nil {
			return nil, b.err
		}
		s.use(b)
		return b, nil
	}
	b := s.vacate()
	b.key, b.pins, b.loading = key, 1, true
	s.blocks[key] = b
	b.insert(&s.root)
	s.use(b)
	s.mu.Unlock()
	bytes, err := s.load(key, &b.Data)
	s.mu.Lock()
	b.loading, b.err, b.bytes = false, err, bytes
	s.bytes += bytes
	s.loaded.Broadcast()
	if err != nil {
		s.remove(b) // its memory goes to the collector when the last who waits has seen err
		return nil, err
	}
	return b, nil
}

// Put gives a block back.
func (s *Shelf[T]) Put(b *Block[T]) {
	s.mu.Lock()
	b.pins--
	s.mu.Unlock()
}

// GetAll appends the blocks called keys to dst, as Get returns each. Those that are in memory
// take one lock for all of them. After an error none is held.
func (s *Shelf[T]) GetAll(dst []*Block[T], keys []int) ([]*Block[T], error) {
	from := len(dst)
	s.mu.Lock()
	for _, key := range keys {
		b := s.blocks[key]
		if b != nil && b.loading {
			b = nil
		}
		if b != nil {
			b.pins++
			s.use(b)
		}
		dst = append(dst, b)
	}
	s.mu.Unlock()
	for i, key := range keys {
		if dst[from+i] != nil {
			continue
		}
		b, err := s.Get(key)
		if err != nil {
			s.PutAll(dst[from:])
			return dst[:from], err
		}
		dst[from+i] = b
	}
	return dst, nil
}

// PutAll gives blocks back. A nil is passed over.
func (s *Shelf[T]) PutAll(blocks []*Block[T]) {
	s.mu.Lock()
	for _, b := range blocks {
		if b != nil {
			b.pins--
		}
	}
	s.mu.Unlock()
}

// Forget drops all blocks that nobody uses.
func (s *Shelf[T]) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for b := s.root.prev; b != &s.root; {
		before := b.prev
		if b.pins == 0 && !b.loading {
			s.remove(b)
		}
		b = before
	}
}

// use notes that b is used.
func (s *Shelf[T]) use(b *Block[T]) {
	s.uses++
	b.used = s.uses
	if s.root.next != b {
		b.unlink()
		b.insert(&s.root)
	}
}

// vacate returns a block for the next load: the one that was not used for longest if the
// shelf is full or that block is stale, else a new one. Further ones are dropped while there are
// too many bytes.
func (s *Shelf[T]) vacate() *Block[T] {
	var found *Block[T]
	for b := s.root.prev; b != &s.root; {
		if s.bytes < s.most && (found != nil || !s.stale(b)) {
			break
		}
		before := b.prev
		if b.pins == 0 && !b.loading {
			s.remove(b)
			if found == nil {
				found = b
			}
		}
		b = before
	}
	if found == nil {
		return new(Block[T])
	}
	return found
}

func (s *Shelf[T]) stale(b *Block[T]) bool {
	return s.uses-b.used > staleTurns*int64(len(s.blocks))
}

func (s *Shelf[T]) remove(b *Block[T]) {
	delete(s.blocks, b.key)
	s.bytes -= b.bytes
	b.bytes = 0
	b.unlink()
}

func (b *Block[T]) unlink() { b.prev.next, b.next.prev = b.next, b.prev }

func (b *Block[T]) insert(after *Block[T]) {
	b.prev, b.next = after, after.next
	after.next.prev, after.next = b, b
}
