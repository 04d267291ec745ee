// Package blockcache keeps the blocks of files in memory that were used last.
package blockcache

import "sync"

// A Cache holds blocks of a data set. The first Get of a block loads it. A load takes the memory
// of the least recently used block when the Cache is full or, after EvictStale, when that block is
// stale. The methods may be called from several goroutines.
//
// In a shuffled order the blocks of a window are used in turn. A block is stale when all others
// were used several times since: its window has ended. So a rank that needs some of the blocks
// takes no more memory than those need, and uses memory again while a processor's cache has it.
type Cache[T any] struct {
	load       func(key int, into *T) (bytes int64, err error)
	maxBytes   int64
	evictStale bool

	mu     sync.Mutex
	loaded *sync.Cond // a load has ended
	blocks map[int]*Block[T]
	bytes  int64 // of all blocks
	uses   int64 // of all blocks so far
	root   Block[T]
}

// staleTurns is how often all blocks were used since the last use of a stale one. A block that is
// used at random with the same chance as all others stays unused so long with a chance of
// e^-staleTurns.
const staleTurns = 6

// Block is a block of a Cache. A Block does not change between Get and Put.
type Block[T any] struct {
	Data T

	key        int
	bytes      int64
	pins       int   // calls of Get whose Put is due
	used       int64 // Cache.uses when it was used last
	loading    bool
	err        error     // of the load
	next, prev *Block[T] // in a ring through root; the next of root was used last
}

// New returns an empty Cache of at most maxBytes bytes, or more while more are in use. Load reads
// the block with a key into memory that another block may have left there. Load returns the size of
// that memory in bytes.
func New[T any](maxBytes int64, load func(key int, into *T) (bytes int64, err error)) *Cache[T] {
	c := &Cache[T]{load: load, maxBytes: maxBytes, blocks: map[int]*Block[T]{}}
	c.loaded = sync.NewCond(&c.mu)
	c.root.next, c.root.prev = &c.root, &c.root
	return c
}

// EvictStale has loads take the memory of stale blocks. It must not be called after the first Get. A
// Cache whose blocks are slow to load again keeps them without it.
func (c *Cache[T]) EvictStale() { c.evictStale = true }

// Get returns a block, which stays in memory until Put. All callers that wait for a load get its
// error. A later Get loads again.
func (c *Cache[T]) Get(key int) (*Block[T], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.blocks[key]; b != nil {
		b.pins++
		for b.loading {
			c.loaded.Wait()
		}
		if b.err != nil {
			return nil, b.err
		}
		c.use(b)
		return b, nil
	}
	b := c.evict()
	b.key, b.pins, b.loading = key, 1, true
	c.blocks[key] = b
	b.insert(&c.root)
	c.use(b)
	c.mu.Unlock()
	bytes, err := c.load(key, &b.Data)
	c.mu.Lock()
	b.loading, b.err, b.bytes = false, err, bytes
	c.bytes += bytes
	c.loaded.Broadcast()
	if err != nil {
		c.remove(b) // the collector frees b after the last waiting caller has seen err
		return nil, err
	}
	return b, nil
}

// Put gives a block back.
func (c *Cache[T]) Put(b *Block[T]) {
	c.mu.Lock()
	b.pins--
	c.mu.Unlock()
}

// GetAll appends the blocks with these keys to dst, as Get returns each. All blocks in memory take
// one lock together. After an error the caller has none to put back.
func (c *Cache[T]) GetAll(dst []*Block[T], keys []int) ([]*Block[T], error) {
	from := len(dst)
	c.mu.Lock()
	for _, key := range keys {
		b := c.blocks[key]
		if b != nil && b.loading {
			b = nil
		}
		if b != nil {
			b.pins++
			c.use(b)
		}
		dst = append(dst, b)
	}
	c.mu.Unlock()
	for i, key := range keys {
		if dst[from+i] != nil {
			continue
		}
		b, err := c.Get(key)
		if err != nil {
			c.PutAll(dst[from:])
			return dst[:from], err
		}
		dst[from+i] = b
	}
	return dst, nil
}

// PutAll gives blocks back and skips nil.
func (c *Cache[T]) PutAll(blocks []*Block[T]) {
	c.mu.Lock()
	for _, b := range blocks {
		if b != nil {
			b.pins--
		}
	}
	c.mu.Unlock()
}

// Purge removes all blocks that are not in use.
func (c *Cache[T]) Purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for b := c.root.prev; b != &c.root; {
		before := b.prev
		if b.pins == 0 && !b.loading {
			c.remove(b)
		}
		b = before
	}
}

// use notes that b is used.
func (c *Cache[T]) use(b *Block[T]) {
	c.uses++
	b.used = c.uses
	if c.root.next != b {
		b.unlink()
		b.insert(&c.root)
	}
}

// evict returns a block for the next load: the least recently used one if the Cache is full or
// that block is stale, else a new one. evict removes further blocks while the Cache is too large.
func (c *Cache[T]) evict() *Block[T] {
	var found *Block[T]
	for b := c.root.prev; b != &c.root; {
		if c.bytes < c.maxBytes && (found != nil || !c.stale(b)) {
			break
		}
		before := b.prev
		if b.pins == 0 && !b.loading {
			c.remove(b)
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

// stale reports whether b may go because all other blocks were used staleTurns times since.
func (c *Cache[T]) stale(b *Block[T]) bool {
	return c.evictStale && c.uses-b.used > staleTurns*int64(len(c.blocks))
}

func (c *Cache[T]) remove(b *Block[T]) {
	delete(c.blocks, b.key)
	c.bytes -= b.bytes
	b.bytes = 0
	b.unlink()
}

func (b *Block[T]) unlink() { b.prev.next, b.next.prev = b.next, b.prev }

func (b *Block[T]) insert(after *Block[T]) {
	b.prev, b.next = after, after.next
	after.next.prev, after.next = b, b
}
