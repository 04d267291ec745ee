package state

import (
	"slices"
	"time"

	"ringtrain/ring/exitcode"
)

// strike lets a fault happen.
func (w *world) strike() {
	p := w.procs[w.r.IntN(len(w.procs))]
	v := w.servers[w.r.IntN(len(w.servers))]
	switch w.r.IntN(40) {
	case 0, 1:
		if p.stream != nil {
			w.seen["stream cut"] = true
			p.stream.cut()
		}
	case 2:
		if !w.launcher && !v.gone && !w.jobEnded {
			w.seen["rendezvous killed"] = true
			v.die(w)
			if w.r.IntN(4) != 0 {
				w.serve()
			}
		}
	case 3:
		if !v.gone {
			w.seen["rendezvous stood still"] = true
			v.stillUntil = w.now + time.Duration(w.r.IntN(12_000))*time.Millisecond
		}
	case 4:
		if !w.launcher && !w.jobEnded && w.r.IntN(3) == 0 {
			w.seen["rendezvous doubled"] = true
			for _, o := range w.servers { // a name has two servers for a while only
				o.diesAt = w.now + time.Duration(w.r.IntN(12_000))*time.Millisecond
			}
			w.serve()
		}
	case 5, 6:
		w.revive()
	}
	if w.calm {
		return
	}
	switch w.r.IntN(60) {
	case 0, 1:
		w.kill(p)
	case 2:
		if p.alive && w.r.IntN(2) == 0 {
			w.seen["process stopped"] = true
			p.frozen = true
			w.faults++
		}
	case 3, 4:
		for _, q := range w.procs {
			q.thaw(w)
		}
	case 5:
		if p.alive && !w.fixed {
			w.seen["fresh duplicate"] = true
			w.start(p.rank)
			w.faults++
		}
	case 6, 7:
		w.seen["dark"] = true
		p.darken(w)
		w.faults++
	case 9, 10:
		w.seen["cut off from one rendezvous"] = true
		for _, q := range w.procs {
			if w.r.IntN(2) == 0 {
				q.blind = map[*simServer]time.Duration{v: w.now + time.Duration(w.r.IntN(15_000))*time.Millisecond}
				q.heldBack = max(q.heldBack, q.blind[v])
				w.faults++
			}
		}
	case 11:
		if !w.launcher && !w.fixed && !w.jobEnded && w.r.IntN(3) == 0 { // the whole job is started again
			w.seen["started again"] = true
			for _, o := range w.servers {
				o.die(w)
			}
			for rank := range w.size {
				w.start(rank)
				w.faults++
			}
			w.serve()
		}
	case 12:
		if !w.launcher && !w.fixed && !w.jobEnded && w.r.IntN(3) == 0 {
			w.seen["two halves"] = true
			w.divide(v)
		}
	case 8:
		w.seen["all silent"] = true
		for _, q := range w.procs {
			q.darken(w)
			w.faults++
		}
	}
}

// divide starts a rendezvous beside another one, and another process for each rank. Half of the
// processes reach the one, the other half the other.
func (w *world) divide(v *simServer) {
	w.serve()
	beside := w.servers[len(w.servers)-1]
	for rank := range w.size {
		w.start(rank)
		w.faults++
	}
	until := w.now + 10*time.Second
	for _, p := range w.procs {
		unseen := v
		if w.r.IntN(2) == 0 {
			unseen = beside
		}
		p.blind = map[*simServer]time.Duration{unseen: until}
		p.heldBack = max(p.heldBack, until)
		w.faults++
	}
}

// kill ends a process. A launcher sees the end, sometimes late.
func (w *world) kill(p *simProcess) {
	if !p.alive {
		return
	}
	w.seen["process killed"] = true
	w.note("process %d of rank %d is killed", p.id, p.rank)
	p.alive = false
	w.faults++
	if p.record.Fence.Generation == 0 {
		w.faults++ // its join may be on the way, and count as another loss
	}
	if p.stream != nil {
		p.stream.cut()
	}
	for _, v := range w.servers {
		twin := slices.ContainsFunc(w.procs, func(q *simProcess) bool { return q != p && q.rank == p.rank && q.alive })
		if w.launcher && !v.gone && !twin {
			w.step(v, ProcessExited{Rank: p.rank, Text: "killed by signal 9", Code: exitcode.Retry})
		}
	}
}
