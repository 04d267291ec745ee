package rendezvous

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/ring/port"
)

// notRendezvous tells what is at addr instead of a rendezvous, where the first word
// there ended with err; "" if that is not known. A worker's port has gRPC but no
// rendezvous, and says whose it is:
//
//	10.0.0.7:4402 is the port of rank 3 of job mnist, not of a rendezvous
//
// Nothing proves what it says of itself.
func notRendezvous(ctx context.Context, dial dialFunc, addr string, err error) string {
	if status.Code(err) != codes.Unimplemented {
		return ""
	}
	said, _ := converse(ctx, dial, addr, port.Question)
	o, ok := port.ParseAnswer(said)
	if !ok || o.Rendezvous {
		return ""
	}
	return notServes(addr, o)
}

// notServes says that addr is a worker's, which serves no rendezvous there.
func notServes(addr string, o port.Owner) string {
	whose, job := "a worker", "a job"
	if o.Rank >= 0 {
		whose = fmt.Sprintf("rank %d", o.Rank)
	}
	if id := name(o.JobID); id != "" {
		job = "job " + clip(id, maxForeign)
	}
	return fmt.Sprintf("%s is the port of %s of %s, not of a rendezvous", addr, whose, job)
}
