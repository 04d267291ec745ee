package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/bucket"
	"ringtrain/ring/codec"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/order"
)

// auto as allreduce.codec lets the run choose, once:
//
//	steps 1 … 3     no codec; the exchange, backward and the steps are timed
//	after step 3    each rank times its codecs on its gradients; all ranks take the
//	                worst of what they have measured, and so choose alike
//	from step 4 on  the codec that cost.Choose takes
//
// Steps are counted from where this process began. The choice is never taken
// back, so that the run repeats; it is kept in checkpoints, and a run that
// resumes begins with it.

const (
	warmupSteps    = 3
	codecTimeLimit = 20 * time.Millisecond // for timing codecs
	comparedSteps  = 10                    // steps over which the prediction is held against what is
)

// A choice is how the codec of a run was found.
type codecChoice struct {
	codec      string           // in force: a codec's name, or auto while it is not known
	stored     string           // what checkpoints remember: the codec, if it was measured; else ""
	unreported *report.Decision // not told yet

	warmupLeft int           // steps that are still to be timed
	steps      []measurement // those that were

	stepsSince int // steps since the choice
	exposed    time.Duration
}

// decisions is what a checkpoint keeps of what was measured.
func (h *trainerState) decisions() map[string]string {
	d := map[string]string{}
	if h.choice.stored != "" {
		d["codec"] = h.choice.stored
	}
	if len(h.measuredOrder) > 0 {
		d["order"] = order.Format(h.measuredOrder)
	}
	return d
}

// storedCodec returns 1 + the ID of the codec among a checkpoint's decisions, 0
// if there is none.
func storedCodec(path string, decisions map[string]string) (int64, error) {
	name, ok := decisions["codec"]
	if !ok {
		return 0, nil
	}
	c, err := codec.Parse(name)
	if err != nil {
		return 0, exitcode.With(exitcode.BadData, fmt.Errorf("%s: decision: %v", path, err))
	}
	return 1 + int64(c.ID()), nil
}

// settleCodec finds the codec that the run begins with, alike on all ranks.
func (r *run) initialCodec(ctx context.Context, o progress) error {
	if r.job.AllReduce.Codec != job.Auto {
		return r.useNamedCodec(ctx)
	}
	c, m := &r.choice, r.team.Group.Membership()
	chosen, err := o.chosen()
	if err != nil {
		return err
	}
	if chosen != nil {
		c.stored = chosen.String()
	}
	mayCode, codes := r.codedBuckets()
	switch {
	case m.Size() == 1:
		c.fix(cost.None.Name, "one rank: nothing is sent")
	case !r.team.Group.Compresses():
		c.fix(cost.None.Name, "one host: gradients stay in memory")
	case m.Hosts() == 1:
		c.fix(cost.None.Name, "one host: its own links are faster than any wire")
	case chosen != nil:
		c.fix(c.stored, "measured earlier in this job, and kept in its checkpoint")
		r.setCodec(chosen)
	case !cost.Buckets{Each: mayCode}.Worth():
		c.fix(cost.None.Name, cost.TooSmall)
	case !cost.Buckets{Each: codes}.Worth():
		c.fix(cost.None.Name, r.unusedReason())
	default:
		c.codec, c.warmupLeft = job.Auto, warmupSteps
		r.loop.Reducer.Time(true)
	}
	return nil
}

// settleNamed takes the codec that the job names, where there is use for it.
func (r *run) useNamedCodec(ctx context.Context) error {
	c, a := &r.choice, r.job.AllReduce
	named, rank, err := a.ParseCodec()
	if err != nil {
		return exitcode.With(exitcode.Usage, err)
	}
	variables, unused := bucketVariables(r.model.Variables()), ""
	switch {
	case !r.team.Group.Compresses():
		unused = "on one host gradients stay in memory, unless allreduce.levels is flat"
	case rank > 0 && bucket.CountLowRank(variables, rank) == 0:
		unused = fmt.Sprintf("no variable is a matrix more than twice as large as its factors of rank %d", rank)
	case named.Lossy() && r.unusedByAlgorithm():
		unused = r.unusedReason()
		r.setCodec(codec.None) // the same plan and memory as without
	}
	if c.codec = a.Codec; unused != "" {
		c.codec = cost.None.Name
		if r.rank == 0 && r.team.Group.Membership().Size() > 1 && c.codec != a.Codec {
			r.opts.Notice(fmt.Sprintf("allreduce.codec %s is not used: %s", a.Codec, unused))
		}
		return nil
	}
	if rank > 0 {
		r.lowRank = newLowRank(rank, r.steps)
		c.unreported = &report.Decision{What: "codec", Choice: a.Codec, Why: r.lowRank.why(variables, r.loop.Step)}
	}
	return r.startLowRank(ctx)
}

// codedBuckets returns the buckets that a lossy codec may touch, and those that it
// does: the table of allreduce.algorithm may sum some in a way that uses none.
func (r *run) codedBuckets() (mayCode, codes []cost.Bucket) {
	anyTime := make([]time.Duration, len(r.model.Variables()))
	return r.loop.Reducer.Coded(anyTime), r.ringBuckets(anyTime)
}

// coded is Reducer.Coded, with buckets exact that do not go by ring. On two levels
// all count as if they did: what the drivers do with their shards the group does
// not tell.
func (r *run) ringBuckets(left []time.Duration) []cost.Bucket {
	buckets, g := r.loop.Reducer.Coded(left), r.team.Group
	if g.Levels() != "flat" {
		return buckets
	}
	for i := range buckets {
		b := &buckets[i]
		b.Exact = b.Exact || g.Algorithm(int(b.Bytes), candidates()[0]) != ring.ByRing
	}
	return buckets
}

// passesBy tells whether no bucket that a codec may touch goes by ring, though
// there are some.
func (r *run) unusedByAlgorithm() bool {
	lossy := func(b cost.Bucket) bool { return !b.Exact }
	mayCode, codes := r.codedBuckets()
	return slices.ContainsFunc(mayCode, lossy) && !slices.ContainsFunc(codes, lossy)
}

// notByRing says why a codec is not used.
func (r *run) unusedReason() string {
	return fmt.Sprintf("allreduce.algorithm %s sums no bucket that is worth a codec by ring, which alone uses it", r.job.AllReduce.Algorithm)
}

// settle takes a codec without measuring.
func (c *codecChoice) fix(name, why string) {
	c.codec = name
	c.unreported = &report.Decision{What: "codec", Choice: name, Why: why}
}

// emitSettled tells what was chosen without measuring, if there is a step to
// come.
func (r *run) emitChoice() {
	if e := r.choice.unreported; e != nil {
		r.choice.unreported = nil
		if !r.finished {
			r.emit(*e)
		}
	}
}

// setCodec changes the codec before the next step.
func (r *run) setCodec(c codec.Codec) {
	r.loop.Reducer.SetCodec(c)
	bindGrads(r.model.Variables(), r.loop.Reducer)
}

// choose takes what was measured for the choice, from the next step on.
func (r *run) applyDecision(d cost.Decision) error {
	chosen, err := codec.Parse(d.Codec)
	if err != nil {
		return exitcode.With(exitcode.Internal, err)
	}
	r.setCodec(chosen)
	c := &r.choice
	c.codec, c.stored = d.Codec, d.Codec
	c.unreported = &report.Decision{
		What: "codec", Choice: d.Codec, Why: fmt.Sprintf("%s; from step %d on", d.Why, r.loop.Step+1), Predicted: report.Seconds(d.Exposed),
	}
	return nil
}

// achieve holds the prediction against the steps after the choice, and tells
// both after proofFor of them, or at the end.
func (r *run) measureAchieved(end bool) {
	c := &r.choice
	if c.unreported == nil {
		return
	}
	c.stepsSince++
	c.exposed += r.loop.last.exposed
	if c.stepsSince < comparedSteps && !end {
		return
	}
	c.unreported.Achieved = report.Seconds(c.exposed / time.Duration(c.stepsSince))
	r.emit(*c.unreported)
	c.unreported = nil
}
