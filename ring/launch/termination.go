package launch

import (
	"fmt"
	"syscall"
	"time"

	"ringtrain/ring/launch/process"
)

// SameTime is the time after a signal that asks to end in which a second one counts as the
// same. Such a signal often comes twice, to the launcher and to the ranks: from pkill,
// systemd, containers, timeout(1), or a shell that ends with its terminal. The second one
// is no reason to hurry, for the ranks are to save their state.
const SameTime = 500 * time.Millisecond

// TimedOut is the exit code of a run after its timeout: ETIMEDOUT, as with mpirun. To
// repeat the run does not help.
const TimedOut = 110

// termination decides how a run ends: which failure counts, and when the ranks get which
// signal. It knows no clock and no process.
//
//	first failure ──1 s──► TERM ──grace──► KILL ──10 s──► give up
//	signal ──► passed on; a rank ends ──grace──► KILL
//	second signal, SameTime later or more ──► KILL
//	timeout ──► QUIT ──1 s──► TERM ──grace──► KILL
type termination struct {
	grace           time.Duration
	firstFailure    *process.Ending // the failure that counts
	signal          syscall.Signal  // the signal that was passed on; 0: none
	signaledAt      time.Time       // when that signal came
	endSent         bool            // the launcher has sent TERM or KILL: later failures do not count
	killSent        bool
	restartsDropped bool          // ranks that were to be started again were not
	expiredTimeout  time.Duration // the timeout of the run, once it is over; else 0
	termAt          time.Time     // zero: not planned
	killAt          time.Time
	giveUpAt        time.Time
}

// action is what the launcher has to do next.
type action int

const (
	actionNone    action = iota
	actionForward        // pass termination.signal on to all ranks
	actionTerm
	actionKill
	actionGiveUp // some ranks cannot be killed: stop waiting for them
	actionDump   // SIGQUIT, on which ranks dump their state
)

// signal returns the signal of an action to all ranks; 0 for none.
func (a action) signal(c *termination) syscall.Signal {
	switch a {
	case actionForward:
		return c.signal
	case actionDump:
		return syscall.SIGQUIT
	case actionTerm:
		return syscall.SIGTERM
	case actionKill:
		return syscall.SIGKILL
	}
	return 0
}

// undisturbed reports whether no event has ended the run yet.
func (te *termination) undisturbed() bool {
	return te.firstFailure == nil && te.signal == 0 && !te.endSent && te.expiredTimeout == 0
}

// rankEnded handles a rank's end. It reports whether the rank has failed of its own accord.
func (te *termination) rankEnded(e process.Ending, now time.Time) (failed bool) {
	if te.endSent || te.expiredTimeout > 0 {
		if e.Lost && te.firstFailure != nil && te.firstFailure.Symptom() { // the loss came first, though its notice came late
			te.firstFailure = &e
		}
		return false
	}
	if te.signal != 0 && te.killAt.IsZero() {
		te.killAt = now.Add(te.grace)
	}
	if e.OK() {
		return false
	}
	if te.firstFailure == nil || te.firstFailure.Symptom() && !e.Symptom() {
		// A rank that has lost another may end before that other one is seen to end.
		te.firstFailure = &e
	}
	if te.signal == 0 && te.termAt.IsZero() {
		te.termAt = now.Add(process.SettleTime)
	}
	return !te.obeys(e)
}

// obeys reports whether a rank ended as a signal to the launcher had asked it to: by
// itself, or by the signal, if it has no handler yet.
func (te *termination) obeys(e process.Ending) bool {
	return te.signal != 0 && (e.Obedient() || e.Signal == te.signal)
}

// signaled handles a signal to the launcher.
func (te *termination) signaled(s syscall.Signal, now time.Time) action {
	switch {
	case te.signal == 0:
	case now.Sub(te.signaledAt) < SameTime:
		return actionNone
	default:
		return te.kill(now)
	}
	te.signal, te.signaledAt = s, now
	if !te.termAt.IsZero() { // this signal tells the ranks; a second TERM would interrupt their saving
		te.termAt, te.killAt = time.Time{}, now.Add(te.grace)
	}
	return actionForward
}

// cancel handles the end of the launcher's context, or a fault of the launcher.
func (te *termination) cancel(now time.Time) action {
	if te.endSent {
		return actionNone
	}
	te.endSent, te.termAt, te.killAt = true, time.Time{}, now.Add(te.grace)
	return actionTerm
}

// expire handles the end of the run's timeout d.
func (te *termination) expire(d time.Duration, now time.Time) action {
	if te.firstFailure != nil || te.endSent {
		return actionNone
	}
	te.expiredTimeout, te.termAt = d, now.Add(process.SettleTime)
	return actionDump
}

// tick returns the action that is due.
func (te *termination) tick(now time.Time) action {
	due := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	switch {
	case due(te.giveUpAt):
		return actionGiveUp
	case due(te.killAt):
		return te.kill(now)
	case due(te.termAt):
		return te.cancel(now)
	}
	return actionNone
}

// kill plans the time to give up.
func (te *termination) kill(now time.Time) action {
	te.endSent, te.killSent = true, true
	te.termAt, te.killAt, te.giveUpAt = time.Time{}, time.Time{}, now.Add(process.KillTimeout)
	return actionKill
}

// nextDeadline returns when tick has something to do; zero if never.
func (te *termination) nextDeadline() time.Time {
	for _, t := range []time.Time{te.giveUpAt, te.killAt, te.termAt} {
		if !t.IsZero() {
			return t // at most one is planned
		}
	}
	return time.Time{}
}

// result returns the result of the first failure. Ranks that obey a signal to the launcher,
// that the launcher kills after one, or that are not started again do not fail: then the
// signal is the reason.
func (te *termination) result() Result {
	switch {
	case te.firstFailure != nil && te.obeys(*te.firstFailure):
		return Result{Code: te.firstFailure.Code(), Rank: -1, Text: "stopped by " + process.SignalText(te.signal)}
	case te.firstFailure != nil:
		return Result{Code: te.firstFailure.Code(), Rank: te.firstFailure.Rank, Host: te.firstFailure.Host, Text: te.firstFailure.String()}
	case te.expiredTimeout > 0:
		return Result{Code: TimedOut, Rank: -1, Text: fmt.Sprintf("not done after %v (--timeout): ranks were told to dump and to end", te.expiredTimeout)}
	case te.killSent && te.signal != 0:
		return Result{Code: 128 + int(te.signal), Rank: -1, Text: "ranks were killed after " + process.SignalText(te.signal)}
	case te.restartsDropped && te.signal != 0:
		return Result{Code: 128 + int(te.signal), Rank: -1, Text: "stopped by " + process.SignalText(te.signal) + " while ranks were to be started again"}
	}
	return Result{Rank: -1}
}
