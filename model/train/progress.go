package train

import (
	"encoding/binary"
	"fmt"
	"math"

	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
)

// progress is the position of a run: the facts that a checkpoint stores besides tensors. The zero
// progress is that of a fresh run.
type progress struct {
	restored bool           // from a checkpoint
	step     int64          // completed
	steps    int64          // of the whole run when the state was saved, 0 if unknown
	position input.Position // in the training data
	codec    int64          // one plus the ID of the codec chosen by measurement, 0 if none was
	epoch    epochSum       // of the epoch of the last step
	best     bestEvaluation // used if evaluations may end the run
	mix      uint64         // running digest of rows, see Loop.Mix; not saved
	saved    int64          // step of the newest checkpoint that all ranks know of, 0 for none
	counted  bool           // an epoch of the training records has been counted by column; not saved
}

// progressBytes is the length of an encoded progress.
const progressBytes = 136

// encode returns restored, step, steps, epoch, offset and codec as int64, then the loss of the epoch as
// float64 and its examples as int64, then the best value as float64 and step, seen and waited of the
// best evaluation as int64, then the bad records of the epoch, mix, saved, counted and the examples of the epochs before as int64, all little-endian.
func (p progress) encode() []byte {
	b := make([]byte, 0, progressBytes)
	for _, v := range []int64{bit(p.restored), p.step, p.steps, p.position.Epoch, p.position.Offset, p.codec} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.epoch.loss))
	b = binary.LittleEndian.AppendUint64(b, uint64(p.epoch.examples))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.best.value))
	for _, v := range []int64{p.best.step, p.best.seen, p.best.waited, p.epoch.bad, int64(p.mix), p.saved, bit(p.counted), p.epoch.before} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func decodeProgress(b []byte) progress {
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	return progress{
		restored: at(0) == 1, step: at(1), steps: at(2), position: input.Position{Epoch: at(3), Offset: at(4)}, codec: at(5),
		epoch: epochSum{math.Float64frombits(uint64(at(6))), at(7), at(12), at(16)},
		best:  bestEvaluation{value: math.Float64frombits(uint64(at(8))), step: at(9), seen: at(10), waited: at(11)},
		mix:   uint64(at(13)), saved: at(14), counted: at(15) == 1,
	}
}

// chosen returns the codec that was chosen by measurement, nil if none was.
func (p progress) chosen() (codec.Codec, error) {
	if p.codec == 0 {
		return nil, nil
	}
	if id := p.codec - 1; id >= 0 && id < 16 {
		if c, ok := codec.ByID(uint8(id)); ok {
			return c, nil
		}
	}
	return nil, exitcode.With(exitcode.Protocol, fmt.Errorf("rank 0 chose codec %d, which is unknown", p.codec-1))
}

// decisions returns the choices by measurement that a checkpoint stores.
func (p progress) decisions() map[string]string {
	d := map[string]string{}
	if c, err := p.chosen(); c != nil && err == nil {
		d["codec"] = c.String()
	}
	return d
}

// storedCodec returns the number of the codec among a checkpoint's decisions, 0 if there is none.
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

// end returns the step after which the job is done, if it starts from p: that of train.steps, else the
// step that completes train.epochs. The steps of an epoch depend on the global batch, which differs
// with the world size under input.local_batch. So end counts the remaining steps from the position.
func (p progress) end(t job.Train, records, batch int) int64 {
	if t.Steps > 0 {
		return t.Steps
	}
	stepsOf := func(n int64) int64 { return (n + int64(batch) - 1) / int64(batch) }
	left := stepsOf(int64(records)-p.position.Offset) + (int64(t.Epochs)-1-p.position.Epoch)*stepsOf(int64(records))
	return p.step + max(left, 0)
}
