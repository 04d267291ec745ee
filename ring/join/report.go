package join

import (
	"context"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
)

// twinTime bounds the report of a port in use: whoever has it may be this very
// rank, started before, and a second start is to end at once.
const portInUseTimeout = 800 * time.Millisecond

// nowhere stands for the address of a worker that does not listen, which the
// rendezvous asks of everybody.
const noListenAddr = ":1"

// Report tells the other workers of a fault that this one found before it
// could meet them: all end with it. It returns the job's first cause, which is
// another if one came first, after 2 s at most. If this worker is the one that
// serves the rendezvous, it does so until all others have heard.
func Report(ctx context.Context, p place.Place, c Config, cause *ring.Cause) *ring.Cause {
	switch {
	case p.Rendezvous == "":
		return cause
	case !p.Serve:
		return rendezvous.Report(ctx, reportOptions(p, c), cause)
	}
	h, err := openWorkerEndpoint(p, c)
	if err != nil {
		return cause // the others will name rank 0
	}
	defer h.close()
	h.server.Abort(cause)
	h.drain.wait(ctx, p.WorldSize-1)
	return cause
}

// tell makes an error of why this worker cannot listen, after it has told the
// others. That a port is in use or a token missing is the trouble of this
// worker alone: to run the others again may help.
func reportListenFault(ctx context.Context, p place.Place, c Config, err error) error {
	cause := ring.CauseOf(err, p.Rank, rendezvous.Self("").Host, -1)
	if p.Serve { // nobody can reach it
		return causeError(cause)
	}
	theirs := *cause
	if cause.ExitCode == exitcode.Auth || cause.ExitCode == exitcode.Retry {
		theirs.ExitCode = exitcode.Retry
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, portInUseTimeout)
		defer cancel()
	}
	rendezvous.Report(ctx, reportOptions(p, c), &theirs)
	return causeError(cause)
}

func reportOptions(p place.Place, c Config) rendezvous.Options {
	o := joinOptions(p, c, noListenAddr)
	o.Agree, o.Waiting = nil, nil
	return o
}
