package train

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/bucket"
	"ringtrain/ring/exitcode"
)

// KeyLimits are numbers of bytes that a link may send under one key, in data frames with their headers; 0
// means the usual one. AES-GCM is safe for 2^24.5 full records, some 360 GiB (RFC 8446, 5.5). Go's TLS cannot
// change a key, but the links of a new generation have new ones.
type KeyLimits struct {
	Renew int64 // all ranks then begin a new generation
	End   int64 // the ranks train no further under this key
}

// orUsual returns l with the usual limits for those that are 0. The space between them is for a rendezvous that
// is not reached.
func (l KeyLimits) orUsual() KeyLimits {
	return KeyLimits{cmp.Or(l.Renew, 192<<30), cmp.Or(l.End, 340<<30)}
}

// renewKeys ends the generation after the last step, if a rank has asked for new keys. The step depends on the
// bytes that the links have sent alone, so a run repeats bit for bit. While a rank does not reach the
// rendezvous, all train on with the old keys. When these are worn, rank 0 saves and the generation ends all the
// same: the ranks wait for the rendezvous, and without it the job ends.
func (r *run) renewKeys(ctx context.Context) error {
	tails := r.loop.Reducer.Tails()
	old := slices.IndexFunc(tails, func(t bucket.Tail) bool { return t.OldKeys })
	worn := slices.IndexFunc(tails, func(t bucket.Tail) bool { return t.WornKeys })
	away := slices.IndexFunc(tails, func(t bucket.Tail) bool { return t.Unreached })
	if r.ending() || old < 0 || worn < 0 && away >= 0 {
		return nil
	}
	text := fmt.Sprintf("rank %d has sent %s under one key: all links get new ones", old, gib(float64(r.team.Keys.Renew)))
	if away >= 0 {
		text = fmt.Sprintf("rank %d has sent %s under one key, and rank %d does not reach the rendezvous for new ones", worn, gib(float64(r.team.Keys.End)), away)
		if _, err := r.checkpoint(ctx, false); err != nil && !r.reporter.tolerates(err) {
			return err
		}
	}
	if err := r.team.Group.Barrier(ctx); err != nil { // here all ranks have done the step
		return err
	}
	return (&ring.Cause{Rank: -1, Step: r.loop.Step, Operation: ring.OpKeys, ExitCode: exitcode.Retry, Text: text}).WithCode()
}
