package train

import (
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Lost ends the run of this process after Run has failed: c is the cause for which no generation
// follows. If a rank was lost, or a signal ended the wait for its successor, rank 0 saves the state
// after its last whole step. If rank 0 was lost, nobody can save: the result then says from which
// checkpoint the job resumes. Else the result is c, and nothing is saved: a fault of the job would come
// again.
func (t *Trainer) Lost(rank int, c *ring.Cause) *ring.Cause {
	if c.ExitCode < exitcode.Interrupted || !t.hasState {
		return c
	}
	told := *c
	switch {
	case rank == 0:
		if err := t.saveLast(); err != nil {
			told.Text += fmt.Sprintf("; the state after step %d is not saved: %v", t.progress.step, err)
		}
	case c.Rank != 0 || c.ExitCode != exitcode.Retry: // a rank 0 that a signal ends has saved
	case t.progress.saved > 0:
		told.Text += fmt.Sprintf("; the newest checkpoint is of step %d", t.progress.saved)
	default:
		told.Text += "; no checkpoint is known"
	}
	return &told
}

// saveLast saves the state after the last whole step. An update follows a complete sum, so the step in
// flight has left no trace in this state. The replicas are not compared, because other ranks have
// ended.
func (t *Trainer) saveLast() error {
	if t.progress.step <= t.progress.saved { // nothing was trained since
		return nil
	}
	if err := t.wantFinite(); err != nil {
		return err
	}
	if t.outputs.saved.step != t.progress.step { // else it is saved, perhaps as that of a finished run
		if err := t.save(time.Now(), false); err != nil {
			return err
		}
	}
	t.noticeSaved()
	return nil
}
