package train

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"ringtrain/export/checkpoint"
	"ringtrain/export/events"
	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/optimizer"
	"ringtrain/model/train/report"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
)

// held is what a process keeps of its job from one generation to the next,
// beside the values of variables and slots, which lie in memory of its own. It
// changes with an update and with what follows one, so that a step in flight
// leaves no trace in it.
type trainerState struct {
	hasState  bool                // variables and slots have the values after where.step
	progress  progress            // which it holds, and what it has chosen
	fromSeed  bool                // step 0 of it is of the seed alone
	agreed    Agreed              // after that step, less what is done of it
	optimizer optimizer.Optimizer // nil before the first generation
	averages  *averages           // placed with the optimizer; nil: none are kept
	lastRows  lastRows            // of the last step of the generation before

	wantsCheckpoint bool // Options.Checkpoint has said so, and no step has agreed on it yet
	choice          codecChoice
	measuredOrder   []int // ranks as the ring goes through them, if that was measured
	tracker         tracker

	storedKernels   string // kernel set of the checkpoint that was restored, until it is told
	reportedKernels string // the newest that is told

	lastMetrics          report.Metrics // of the last evaluation
	lastEvalStep         int64          // step of the last evaluation, -1 for none
	savedAt, evaluatedAt time.Time

	sent, sentBetween int64 // bytes, in the generations before

	// What a rank 0 has done and told, and must not do twice.
	outputsChecked     bool               // the outputs can be written
	folder             *checkpoint.Folder // checkpoint.dir, which this process holds; nil if there is none
	startReported      bool               // the event
	reportedOrder      string             // the order that the event says
	reportedTableRoute string             // how tables go, as the event says
	saved              saved
	exported           bool
	summary            *events.Writer // of summary.dir; nil if there is none
	scalars            []events.Scalar
	doneReported       bool // the event Done
}

// saved tells what the newest checkpoint of this process is.
type saved struct {
	step     int64 // -1: there is none
	finished bool
}

func newTrainerState() trainerState { return trainerState{lastEvalStep: -1, saved: saved{step: -1}} }

// reached is how far the process has come.
func (h *trainerState) reached() Result {
	if !h.hasState {
		return Result{Step: -1}
	}
	return Result{Step: h.progress.step}
}

// codecID returns 1 + the ID of the codec that was chosen by measurement, 0 if
// none was, as an origin has it.
func (h *trainerState) codecID() int64 {
	c, err := codec.Parse(h.choice.stored)
	if h.choice.stored == "" || err != nil {
		return 0
	}
	return 1 + int64(c.ID())
}

// place gives the replica its memory, which no group owns: in the first
// generation, and where the one before has left the slots half received.
func (t *Trainer) allocate() error {
	if t.optimizer != nil {
		return nil
	}
	vars := t.model.Variables()
	model.AllocateAll(vars)
	var err error
	t.optimizer, err = optimizer.New(t.job.Optimizer, vars, t.model.Engine)
	t.averages = newAverages(t.job.Train.Average, vars, t.model.Engine)
	return err
}

// origin is where a run begins: what a checkpoint knows besides tensors. The
// zero origin is that of a fresh run.
type progress struct {
	restored bool           // a checkpoint was restored
	step     int64          // completed
	steps    int64          // of the whole run as first started, 0 if unknown
	position input.Position // in the training data
	codec    int64          // 1 + ID of the one that was chosen by measurement, 0 if none was
	epoch    epochSum       // of the epoch that the last step belongs to
	best     bestEvaluation // of the evaluations, where a run may end by them
	mix      uint64         // running digest of rows, see Loop.Mix; not saved
}

// originBytes is the length of an encoded origin.
const progressBytes = 112

// encode returns found, step, steps, epoch, offset and codec as int64, then the loss
// of the epoch as float64 and its examples as int64, then the best value as float64 and
// step, seen and waited of the best as int64, then the bad records of the epoch and mix as
// int64, all little-endian.
func (o progress) encode() []byte {
	b := make([]byte, 0, progressBytes)
	found := int64(0)
	if o.restored {
		found = 1
	}
	for _, v := range []int64{found, o.step, o.steps, o.position.Epoch, o.position.Offset, o.codec} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(o.epoch.loss))
	b = binary.LittleEndian.AppendUint64(b, uint64(o.epoch.examples))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(o.best.value))
	for _, v := range []int64{o.best.step, o.best.seen, o.best.waited, o.epoch.bad, int64(o.mix)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func decodeProgress(b []byte) progress {
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	return progress{
		restored: at(0) == 1, step: at(1), steps: at(2), position: input.Position{Epoch: at(3), Offset: at(4)}, codec: at(5),
		epoch: epochSum{math.Float64frombits(uint64(at(6))), at(7), at(12)},
		best:  bestEvaluation{value: math.Float64frombits(uint64(at(8))), step: at(9), seen: at(10), waited: at(11)},
		mix:   uint64(at(13)),
	}
}

// chosen returns the codec that was chosen by measurement, nil if none was.
func (o progress) chosen() (codec.Codec, error) {
	if o.codec == 0 {
		return nil, nil
	}
	if id := o.codec - 1; id >= 0 && id < 16 {
		if c, ok := codec.ByID(uint8(id)); ok {
			return c, nil
		}
	}
	return nil, exitcode.With(exitcode.Protocol, fmt.Errorf("rank 0 has chosen codec %d, which there is not", o.codec-1))
}

// end returns the step after which the job is done if it begins at o: that of
// train.steps, else the one that completes train.epochs. The steps that an epoch
// takes depend on the global batch, which with input.local_batch is another one
// at another world size; so what is left is counted from the position.
func (o progress) end(t job.Train, records, batch int) int64 {
	if t.Steps > 0 {
		return t.Steps
	}
	stepsOf := func(n int64) int64 { return (n + int64(batch) - 1) / int64(batch) }
	left := stepsOf(int64(records)-o.position.Offset) + (int64(t.Epochs)-1-o.position.Epoch)*stepsOf(int64(records))
	return o.step + max(left, 0)
}
