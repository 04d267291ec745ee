package ring

import "ringtrain/ring/internal/vec"

// tree sums up a binomial tree and hands the sum down again, over the links of
// recursive doubling: in each round the worker at the higher position gives its
// sum so far to its partner, and waits there for the whole one.
//
//	p = 6    0 ◄─ 1   2 ◄─ 3   4   5     round 0
//	         0 ◄────── 2       4 ◄ 5     round 1
//	         0 ◄────────────── 4         round 2, and all the way back
//
// The parts are joined as by doubling, with the same bits.
func (r *rounds) tree() error {
	me := r.w.places.me
	top := 0 // the round where this worker gives its sum away
	for ; top < r.plan.rounds(); top++ {
		partner := r.plan.partner(me, top)
		if partner < 0 {
			continue
		}
		if partner < me {
			if err := r.send(top, r.joined(r.x, r.plan.gathered(me, top))); err != nil {
				return err
			}
			if err := r.takeSum(r.plan.back(top)); err != nil {
				return err
			}
			break
		}
		theirs := r.plan.gathered(partner, top)
		got, err := r.take(top, r.joinedRoom(len(r.x), theirs))
		if err != nil {
			return err
		}
		r.split(len(r.x), theirs, got)
		vec.AddF32(r.x, got[:4*len(r.x)])
	}
	for round := top - 1; round >= 0; round-- {
		if r.plan.partner(me, round) < 0 {
			continue
		}
		if err := r.send(r.plan.back(round), r.joined(r.x, r.all())); err != nil {
			return err
		}
	}
	return nil
}

// takeSum replaces the piece by the sum that a partner hands down in a step.
func (r *rounds) takeSum(step int) error {
	got, err := r.take(step, r.joinedRoom(len(r.x), r.all()))
	if err == nil {
		copy(bytesOf(r.x), r.split(len(r.x), r.all(), got))
	}
	return err
}

// gathered returns the workers whose parts worker me holds before a round.
func (c cube) gathered(me, round int) span {
	if round < c.before() {
		return span{me, me + 1}
	}
	return c.held(me, round-c.before())
}
