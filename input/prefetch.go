package input

// slot is a batch on its way between the prefetcher and Next.
type slot struct {
	batch Batch
	after Position // the place after batch
	err   error    // instead of a batch; the last slot
}

// prefetch reads batches ahead of Next. A fixed number of slots goes around:
//
//	Next ── free ──► prefetcher ── full ──► Next
//
// Both channels have room for all slots, so only an empty one blocks.
type prefetch struct {
	free, full chan *slot
	ended      chan struct{} // closed when the goroutine has returned
}

// startPrefetch reads from r, which is the prefetcher's from now on, until an
// error or until closed is closed.
func startPrefetch(r *reader, slots int, closed <-chan struct{}) *prefetch {
	p := &prefetch{
		free:  make(chan *slot, slots),
		full:  make(chan *slot, slots),
		ended: make(chan struct{}),
	}
	for range slots {
		p.free <- new(slot)
	}
	go p.run(r, closed)
	return p
}

func (p *prefetch) run(r *reader, closed <-chan struct{}) {
	defer close(p.ended)
	for {
		select {
		case <-closed:
			return
		case s := <-p.free:
			s.err = r.read(&s.batch)
			s.after = r.at
			p.full <- s
			if s.err != nil {
				return
			}
		}
	}
}
