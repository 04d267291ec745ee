package train

import (
	"fmt"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// noteBad keeps what is wrong with this rank's first bad record of the epoch.
func (l *Loop) noteBad(b *input.Batch) {
	if b.Offset == 0 {
		l.fault = nil
	}
	if l.fault == nil {
		l.fault = b.Fault
	}
}

// checkBad ends the job where the ranks have met more bad records in this epoch than there
// may be. The rank that met the first one tells it, and the others learn of it as of any
// record that one rank cannot read. At the end of an epoch it says how many there were.
func (r *run) checkBad() error {
	a, n, most := r.agreed, r.where.epoch.bad, r.job.Input.MaxBad
	if a.First || r.badRank < 0 {
		r.badRank = a.BadRank
	}
	if n == 0 || r.badRank != r.rank {
		return nil
	}
	first := r.loop.fault
	if first == nil {
		first = exitcode.With(exitcode.BadData, fmt.Errorf("the first of them was met before the job was resumed"))
	}
	if n > most {
		return fmt.Errorf("%d bad records in epoch %d, want at most %d, as input.max_bad_records says: %w", n, r.where.position.LastEpoch(), most, first)
	}
	if r.where.position.Offset == 0 || r.ending() {
		r.opts.Notice(fmt.Sprintf("%d bad records in epoch %d counted nothing; the first: %v", n, r.where.position.LastEpoch(), first))
	}
	return nil
}
