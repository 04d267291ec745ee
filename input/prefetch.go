package input

import "sync"

// slot is a batch that circulates between the prefetching goroutines and Next.
type slot struct {
	share share
	batch Batch
	after Position      // position after batch
	err   error         // instead of a batch
	done  chan struct{} // receives a value for each batch that was read or failed
}

// prefetch reads batches ahead of Next. A fixed number of slots circulates:
//
//	Next ── free ──► the next share of the order, one goroutine at a time ──► parallel reads
//	  ▲                                  │ full, in order                        │ done
//	  └──────────────────────────────────┴───────────────────────────────────────┘
//
// The channels have space for all slots, so only receives block.
type prefetch struct {
	free, full chan *slot
	waiting    *slot // slot that Next waits for; kept after a cancelled call

	mu     sync.Mutex // guards reader
	reader *reader
	wait   sync.WaitGroup
}

// startPrefetch starts goroutines that read from r until an error or until closed is
// closed. The prefetcher owns r from now on.
func startPrefetch(r *reader, slots, goroutines int, closed <-chan struct{}) *prefetch {
	slots += goroutines - 1
	p := &prefetch{free: make(chan *slot, slots), full: make(chan *slot, slots), reader: r}
	for range slots {
		p.free <- &slot{done: make(chan struct{}, 1)}
	}
	for range goroutines {
		p.wait.Go(func() { p.run(closed) })
	}
	return p
}

func (p *prefetch) run(closed <-chan struct{}) {
	for {
		s := p.next(closed)
		if s == nil {
			return
		}
		s.err = p.reader.fill(&s.batch, &s.share)
		failed := s.err != nil
		s.done <- struct{}{}
		if failed {
			return
		}
	}
}

// next returns a slot with the next share of the order after it has put the slot into
// full. It returns nil when closed is closed.
func (p *prefetch) next(closed <-chan struct{}) *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-closed:
		return nil
	case s := <-p.free:
		p.reader.next(&s.share)
		s.after = p.reader.at
		p.full <- s
		return s
	}
}
