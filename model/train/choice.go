package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringtrain/model"
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

// A codecChoice records how the codec of a run was chosen. A process keeps it over generations.
type codecChoice struct {
	codec      string           // the codec in force; auto until one is chosen
	unreported *report.Decision // nil if the choice is reported

	warmupLeft int           // number of steps still to be timed
	steps      []measurement // of the timed steps

	stepsSince int           // number of steps since the choice
	exposed    time.Duration // total exposed time of those steps
}

// fix chooses a codec without a measurement.
func (c *codecChoice) fix(name, why string) {
	c.codec = name
	c.unreported = &report.Decision{What: "codec", Choice: name, Why: why}
}

// A tuner chooses the codec of a generation.
type tuner struct {
	*codecChoice
	config  job.AllReduce
	group   *ring.Group
	reducer *bucket.Reducer
	vars    []*model.Variable
	seed    uint64 // of the directions of powersgd
	cores   int    // of this rank
	lowRank lowRank
}

// start chooses the codec of the first step of this generation, of a run of so many steps that goes on
// from p, or has finished there. Known reports whether it is the codec of the generation before, so there is nothing new to report. The
// result is the same on all ranks. The returned notice is for the user.
func (t *tuner) start(ctx context.Context, p progress, steps int64, finished bool) (known bool, notice string, err error) {
	before := *t.codecChoice
	*t.codecChoice = codecChoice{}
	if t.config.Codec == job.Auto {
		err = t.startAuto(p)
	} else {
		if notice, err = t.useNamedCodec(p.step, steps); err == nil {
			err = t.startLowRank(ctx, p.step, finished)
		}
	}
	known = t.warmupLeft == 0 && t.codec == before.codec
	if known || err != nil {
		*t.codecChoice = before
	}
	return known, notice, err
}

// startAuto uses the codec that was chosen before, or none while the first steps are timed.
func (t *tuner) startAuto(p progress) error {
	chosen, err := p.chosen()
	if err != nil {
		return err
	}
	mayCode, codes := t.codedBuckets()
	switch m := t.group.Membership(); {
	case m.Size() == 1:
		t.fix(cost.None.Name, "one rank: nothing is sent")
	case !t.group.Compresses():
		t.fix(cost.None.Name, "one host: gradients stay in memory")
	case m.Hosts() == 1:
		t.fix(cost.None.Name, "one host: its own links are faster than any wire")
	case chosen != nil:
		t.fix(chosen.String(), "measured earlier in this job, and kept in its checkpoint")
		t.setCodec(chosen)
	case !cost.Buckets{Each: mayCode}.Worth():
		t.fix(cost.None.Name, cost.TooSmall)
	case !cost.Buckets{Each: codes}.Worth():
		t.fix(cost.None.Name, t.unusedReason())
	default:
		t.codec, t.warmupLeft = job.Auto, warmupSteps
		t.reducer.Time(true)
	}
	return nil
}

// useNamedCodec uses the codec that the job names, unless the codec would have no effect.
func (t *tuner) useNamedCodec(step, steps int64) (notice string, err error) {
	named, rank, err := t.config.ParseCodec()
	if err != nil {
		return "", exitcode.With(exitcode.Usage, err)
	}
	variables, unused := bucketVariables(t.vars), ""
	switch {
	case !t.group.Compresses():
		unused = "on one host gradients stay in memory, unless allreduce.levels is flat"
	case rank > 0 && bucket.CountLowRank(variables, rank) == 0:
		unused = fmt.Sprintf("no variable is a matrix more than twice as large as its factors of rank %d", rank)
	case named.Lossy() && t.unusedByAlgorithm():
		unused = t.unusedReason()
		t.setCodec(codec.None) // the same plan and memory as without a codec
	}
	t.codec = string(t.config.Codec)
	if unused != "" {
		t.codec = cost.None.Name
		if t.group.Membership().Size() > 1 && t.codec != string(t.config.Codec) {
			notice = fmt.Sprintf("allreduce.codec %s is not used: %s", t.config.Codec, unused)
		}
		return notice, nil
	}
	if rank > 0 {
		t.lowRank = newLowRank(rank, steps)
		t.unreported = &report.Decision{What: "codec", Choice: string(t.config.Codec), Why: t.lowRank.why(variables, step)}
	}
	return "", nil
}

// codedBuckets returns the buckets that a lossy codec may encode, and the buckets that it does encode:
// allreduce.algorithm may sum some buckets in a way that uses no codec.
func (t *tuner) codedBuckets() (mayCode, codes []cost.Bucket) {
	anyTime := make([]time.Duration, len(t.vars))
	return t.reducer.Coded(anyTime), t.ringBuckets(anyTime)
}

// ringBuckets returns the buckets of Reducer.Coded. A bucket that is not summed by ring is exact. On
// two levels all buckets count as summed by ring, because the group does not report how the drivers
// sum their shards.
func (t *tuner) ringBuckets(left []time.Duration) []cost.Bucket {
	buckets := t.reducer.Coded(left)
	if t.group.Levels() != "flat" {
		return buckets
	}
	for i := range buckets {
		b := &buckets[i]
		b.Exact = b.Exact || t.group.Algorithm(int(b.Bytes), candidates()[0]) != ring.ByRing
	}
	return buckets
}

// unusedByAlgorithm reports whether a codec may encode some buckets but none of them is summed by
// ring.
func (t *tuner) unusedByAlgorithm() bool {
	lossy := func(b cost.Bucket) bool { return !b.Exact }
	mayCode, codes := t.codedBuckets()
	return slices.ContainsFunc(mayCode, lossy) && !slices.ContainsFunc(codes, lossy)
}

// unusedReason says why a codec is not used.
func (t *tuner) unusedReason() string {
	return fmt.Sprintf("allreduce.algorithm %s sums no bucket that is worth a codec by ring, which alone uses it", t.config.Algorithm)
}

// take returns the choice, if it is not reported yet.
func (t *tuner) take() *report.Decision {
	e := t.unreported
	t.unreported = nil
	return e
}

// setCodec changes the codec before the next step.
func (t *tuner) setCodec(c codec.Codec) {
	t.reducer.SetCodec(c)
	bindGrads(t.vars, t.reducer)
}

// apply uses the codec that was chosen by measurement from the next step on. It returns its number in
// progress.codec.
func (t *tuner) apply(d cost.Decision, step int64) (id int64, err error) {
	chosen, err := codec.Parse(d.Codec)
	if err != nil {
		return 0, exitcode.With(exitcode.Internal, err)
	}
	t.setCodec(chosen)
	t.fix(d.Codec, fmt.Sprintf("%s; from step %d on", d.Why, step+1))
	t.unreported.Predicted = report.Seconds(d.Exposed)
	return 1 + int64(chosen.ID()), nil
}

// achieved measures the exposed time of the last step, which follows the choice. After comparedSteps
// steps, or at the end, it returns the choice with the predicted and the achieved time; else nil.
func (t *tuner) achieved(last times, end bool) *report.Decision {
	if t.unreported == nil {
		return nil
	}
	t.stepsSince++
	t.exposed += last.exposed
	if t.stepsSince < comparedSteps && !end {
		return nil
	}
	t.unreported.Achieved = report.Seconds(t.exposed / time.Duration(t.stepsSince))
	return t.take()
}
