package train

import (
	"context"

	"ringtrain/ring/exitcode"
)

// signals end the work of this rank, while no step is under way, or ask for the end after a step.
type signals struct {
	stop, leave context.Context // of the team; nil: never
	alone       context.Context // ends with the generation and with leave: the others go on without this rank
	any         context.Context // ends with stop, too: the ranks end together
}

// signalsOf returns the signals of a generation whose context is ctx. The caller calls release at its end.
func signalsOf(ctx context.Context, team Team) (s signals, release func()) {
	s = signals{stop: team.Stop, leave: team.Leave}
	var releaseAlone, releaseAny func()
	s.alone, releaseAlone = endWith(ctx, s.leave)
	s.any, releaseAny = endWith(s.alone, s.stop)
	return s, func() { releaseAny(); releaseAlone() }
}

// endWith returns a context that ends with ctx, or with other for the same cause.
func endWith(ctx, other context.Context) (both context.Context, release func()) {
	if other == nil {
		return ctx, func() {}
	}
	both, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return both, func() { stop(); cancel(nil) }
}

// told returns the cause of the signal that was given, nil for none.
func (s *signals) told() error {
	for _, given := range []context.Context{s.stop, s.leave} {
		if given != nil && given.Err() != nil {
			return context.Cause(given)
		}
	}
	return nil
}

// leaves reports whether this rank is to leave alone.
func (s *signals) leaves() bool { return s.leave != nil && s.leave.Err() != nil }

// stopCode returns the exit code with which all ranks are to stop, 0 for none.
func (s *signals) stopCode() int {
	if s.stop == nil || s.stop.Err() == nil {
		return 0
	}
	return exitcode.Of(context.Cause(s.stop))
}

// ofSignal returns the exit code of a signal that is the reason of err, 0 for none.
func ofSignal(err error) int {
	if code := exitcode.Of(err); code == exitcode.Interrupted || code == exitcode.Terminated {
		return code
	}
	return 0
}
