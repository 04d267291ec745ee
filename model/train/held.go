package train

import (
	"time"

	"ringtrain/export/checkpoint"
	"ringtrain/export/events"
	"ringtrain/model"
	"ringtrain/model/optimizer"
	"ringtrain/model/train/report"
	"ringtrain/ring/codec"
)

// held is what a process keeps of its job from one generation to the next,
// beside the values of variables and slots, which lie in memory of its own. It
// changes with an update and with what follows one, so that a step in flight
// leaves no trace in it.
type held struct {
	whole     bool                // variables and slots have the values after where.step
	where     origin              // which it holds, and what it has chosen
	drawn     bool                // step 0 of it is of the seed alone
	agreed    Agreed              // after that step, less what is done of it
	optimizer optimizer.Optimizer // nil before the first generation
	averages  *averages           // placed with the optimizer; nil: none are kept
	lastRows  lastRows            // of the last step of the generation before

	asked   bool // Options.Checkpoint has said so, and no step has agreed on it yet
	choice  choice
	order   []int // ranks as the ring goes through them, if that was measured
	tracker tracker

	storedKernels string // kernel set of the checkpoint that was restored, until it is told
	toldKernels   string // the newest that is told

	last                 report.Metrics // of the last evaluation
	lastStep             int64          // step of the last evaluation, -1 for none
	savedAt, evaluatedAt time.Time

	sent, sentBetween int64 // bytes, in the generations before

	// What a rank 0 has done and told, and must not do twice.
	checked  bool               // the outputs can be written
	folder   *checkpoint.Folder // checkpoint.dir, which this process holds; nil if there is none
	started  bool               // the event
	ordered  string             // the order that the event says
	way      string             // how tables go, as the event says
	saved    saved
	exported bool
	summary  *events.Writer // of summary.dir; nil if there is none
	scalars  []events.Scalar
	ended    bool // the event Done
}

// saved tells what the newest checkpoint of this process is.
type saved struct {
	step     int64 // -1: there is none
	finished bool
}

func newHeld() held { return held{lastStep: -1, saved: saved{step: -1}} }

// reached is how far the process has come.
func (h *held) reached() Result {
	if !h.whole {
		return Result{Step: -1}
	}
	return Result{Step: h.where.step}
}

// codecID returns 1 + the ID of the codec that was chosen by measurement, 0 if
// none was, as an origin has it.
func (h *held) codecID() int64 {
	c, err := codec.Parse(h.choice.kept)
	if h.choice.kept == "" || err != nil {
		return 0
	}
	return 1 + int64(c.ID())
}

// place gives the replica its memory, which no group owns: in the first
// generation, and where the one before has left the slots half received.
func (t *Trainer) place() error {
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
