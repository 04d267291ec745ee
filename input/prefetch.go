package input

import "sync"

// slot is a batch on its way between the goroutines that read ahead and Next.
type slot struct {
	share share
	batch Batch
	after Position      // the place after batch
	err   error         // instead of a batch
	done  chan struct{} // receives once for each batch that is read, or could not be
}

// prefetch reads batches ahead of Next. A fixed number of slots goes around:
//
//	Next ── free ──► the next share of the order, one goroutine at a time ──► reading, side by side
//	  ▲                                  │ full, in order                        │ done
//	  └──────────────────────────────────┴───────────────────────────────────────┘
//
// The channels have room for all slots, so only an empty one blocks.
type prefetch struct {
	free, full chan *slot
	waiting    *slot // of full, for whose done Next waits; a call that was cancelled leaves it

	mu     sync.Mutex // of reader
	reader *reader
	wait   sync.WaitGroup
}

// startPrefetch reads from r, which is the prefetcher's from now on, with so many goroutines,
// until an error or until closed is closed.
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

// next returns a slot with the next share of the order, which it has put into full. It
// returns nil when closed is closed.
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
