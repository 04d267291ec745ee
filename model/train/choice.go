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
)

// With allreduce.codec auto the run chooses its codec once:
//
//	steps 1 … 3     no codec; the exchange, backward and the steps are timed
//	after step 3    each rank times its codecs on its gradients; all ranks take the
//	                worst of what they have measured, and so choose alike
//	from step 4 on  the codec that cost.Choose takes
//
// Steps count from the first step of this process. The choice is final, so that the run repeats. A
// checkpoint stores the choice, and a run that resumes begins with it.

const (
	warmupSteps    = 3
	codecTimeLimit = 20 * time.Millisecond // limit on the time in which codecs are timed
	comparedSteps  = 10                    // number of steps over which the predicted time is compared with the achieved time
)

// A codecChoice records how the codec of a run was chosen.
type codecChoice struct {
	codec      string           // the codec in force; auto until one is chosen
	stored     string           // the codec that checkpoints store; "" if it was not measured
	unreported *report.Decision // nil if the choice is reported

	warmupLeft int           // number of steps still to be timed
	steps      []measurement // of the timed steps

	stepsSince int           // number of steps since the choice
	exposed    time.Duration // total exposed time of those steps
}

// decisions returns the choices by measurement that a checkpoint stores.
func (h *trainerState) decisions() map[string]string {
	d := map[string]string{}
	if h.choice.stored != "" {
		d["codec"] = h.choice.stored
	}
	return d
}

// storedCodec returns one plus the ID of the codec among a checkpoint's decisions, 0 if there is none.
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

// initialCodec finds the codec of the first step. The result is the same on all ranks.
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

// useNamedCodec uses the codec that the job names, unless the codec would have no effect.
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
		r.setCodec(codec.None) // the same plan and memory as without a codec
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

// codedBuckets returns the buckets that a lossy codec may encode, and the buckets that it does encode:
// allreduce.algorithm may sum some buckets in a way that uses no codec.
func (r *run) codedBuckets() (mayCode, codes []cost.Bucket) {
	anyTime := make([]time.Duration, len(r.model.Variables()))
	return r.loop.Reducer.Coded(anyTime), r.ringBuckets(anyTime)
}

// ringBuckets returns the buckets of Reducer.Coded. A bucket that is not summed by ring is exact. On
// two levels all buckets count as summed by ring, because the group does not report how the drivers
// sum their shards.
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

// unusedByAlgorithm reports whether a codec may encode some buckets but none of them is summed by
// ring.
func (r *run) unusedByAlgorithm() bool {
	lossy := func(b cost.Bucket) bool { return !b.Exact }
	mayCode, codes := r.codedBuckets()
	return slices.ContainsFunc(mayCode, lossy) && !slices.ContainsFunc(codes, lossy)
}

// unusedReason says why a codec is not used.
func (r *run) unusedReason() string {
	return fmt.Sprintf("allreduce.algorithm %s sums no bucket that is worth a codec by ring, which alone uses it", r.job.AllReduce.Algorithm)
}

// fix chooses a codec without a measurement.
func (c *codecChoice) fix(name, why string) {
	c.codec = name
	c.unreported = &report.Decision{What: "codec", Choice: name, Why: why}
}

// emitChoice reports a choice without measurement, if a step follows.
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

// applyDecision uses the codec that was chosen by measurement from the next step on.
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

// measureAchieved measures the exposed time of the steps after the choice. It reports the choice with
// the predicted and the achieved time after comparedSteps steps, or at the end.
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
