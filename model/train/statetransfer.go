package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"ringtrain/ring/exitcode"
)

// A generation begins with the newest state that a living rank holds:
//
//	all-gather   who holds the state after which step
//	broadcast    what a checkpoint knows of that of the newest step, and in which form the
//	             state follows, from the lowest rank that has it
//	broadcast    the state, unless all have it
//
// Ranks of one job differ by one step at most, since a step needs all of them, and
// an update follows a complete sum: the bits after a step are the same on every
// rank that has completed it. So at most the step in flight is repeated, and
// whoever is level keeps its values. Where nobody holds a state, as in the first
// generation, rank 0 has it from the disk, or every rank draws its own tables.
//
// Tables may be large. To a rank that is one step behind go the rows that this step has
// summed, and it makes the step itself.

// A form is what follows a handover.
type transferKind int64

const (
	transferNone        transferKind = iota // nothing: all hold the state
	transferRows                            // all but tables and their slots; then the rows of the last step
	transferInitialized                     // all but tables and their slots, which each rank draws
	transferAll                             // all of it
	transferKinds
)

// A standing is how far a rank has come.
type stateReport struct {
	hasState bool  // it holds a state
	rows     bool  // and the rows that its last step has summed
	step     int64 // after which step
}

// encode returns whole and rows as bits of an int64, and step as int64, little-endian.
func (s stateReport) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(bit(s.hasState)+2*bit(s.rows)))
	return binary.LittleEndian.AppendUint64(b, uint64(s.step))
}

func decodeStateReport(b []byte) stateReport {
	flags := binary.LittleEndian.Uint64(b)
	return stateReport{flags&1 == 1, flags&2 == 2, int64(binary.LittleEndian.Uint64(b[8:]))}
}

// newest returns the lowest of the ranks that hold the newest state, -1 if none
// holds any, and whether all hold that.
func newestState(all []stateReport) (donor int, level bool) {
	donor = -1
	for rank, s := range all {
		if s.hasState && (donor < 0 || s.step > all[donor].step) {
			donor = rank
		}
	}
	for _, s := range all {
		if donor < 0 || s.hasState != all[donor].hasState || s.step != all[donor].step {
			return donor, false
		}
	}
	return donor, true
}

// rowsSuffice tells whether every rank either has the donor's state or is the step behind it
// that the donor has the rows of.
func rowsSuffice(all []stateReport, donor int) bool {
	for _, s := range all {
		if !s.hasState || s.step < all[donor].step-1 {
			return false
		}
	}
	return all[donor].rows
}

// standings gathers those of all ranks.
func (r *run) gatherStateReports(ctx context.Context) ([]stateReport, error) {
	all, err := gatherEqual(ctx, r.team.Group, stateReport{r.hasState, r.lastRows.step == r.progress.step && r.progress.step > 0, r.progress.step}.encode())
	if err != nil {
		return nil, err
	}
	standings := make([]stateReport, r.team.Group.Membership().Size())
	for rank := range standings {
		standings[rank] = decodeStateReport(all.At(rank))
	}
	return standings, nil
}

// A handover is what ranks are given with variables and slots: what a checkpoint
// knows, and what the last step came to and has left to do.
type stateHeader struct {
	progress progress
	agreed   Agreed
	kind     transferKind
	rows     rowsHead // with formRows
}

// agreedBytes are those of an encoded Agreed. Who wanted to leave has gone.
const agreedBytes = 48

const stateHeaderBytes = agreedBytes + progressBytes + 8 + rowsHeadBytes

// encode returns loss as float64, then examples, first, stop, checkpoint and
// evaluate as int64, all little-endian, then the origin, the form as int64, and the head of rows.
func (h stateHeader) encode() []byte {
	a := h.agreed
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, stateHeaderBytes), math.Float64bits(a.Loss))
	for _, v := range []int64{a.Examples, bit(a.First), int64(a.Stop), bit(a.Checkpoint), bit(a.Evaluate)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	b = append(b, h.progress.encode()...)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.kind))
	return append(b, h.rows.encode()...)
}

func decodeStateHeader(b []byte) stateHeader {
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	a := Agreed{Loss: math.Float64frombits(uint64(at(0))), Examples: at(1), First: at(2) == 1}
	a.Stop, a.Checkpoint, a.Evaluate = int(at(3)), at(4) == 1, at(5) == 1
	b = b[agreedBytes:]
	return stateHeader{decodeProgress(b), a, transferKind(binary.LittleEndian.Uint64(b[progressBytes:])), decodeRowsHead(b[progressBytes+8:])}
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// handOver sends the handover from the donor to all, and returns it.
func (r *run) broadcastHeader(ctx context.Context, donor int, h stateHeader) (stateHeader, error) {
	head := h.encode()
	var err error
	if r.rank == donor {
		err = r.team.Group.Broadcast(ctx, donor, bytes.NewReader(head), nil)
	} else {
		err = r.receiveSegments(ctx, donor, [][]byte{head}, 0)
	}
	if err != nil {
		return h, err
	}
	if h = decodeStateHeader(head); h.kind < 0 || h.kind >= transferKinds {
		err = exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d hands over in form %d, want one below %d", donor, h.kind, transferKinds))
	}
	return h, err
}

// give sends the state in the form of h.
func (r *run) sendState(ctx context.Context, h stateHeader) error {
	var readers []io.Reader
	for _, s := range r.segments(h.kind == transferAll) {
		readers = append(readers, bytes.NewReader(s))
	}
	if h.kind == transferRows {
		for _, s := range r.lastRows.segments() {
			readers = append(readers, bytes.NewReader(s))
		}
	}
	return r.team.Group.Broadcast(ctx, r.rank, io.MultiReader(readers...), nil)
}

// take takes the state in, if this rank needs it. A rank that is behind keeps its own until it
// has all of the other.
func (r *run) receiveState(ctx context.Context, donor int, h stateHeader, behind bool) error {
	live := r.segments(h.kind == transferAll)
	var rows lastRows
	if h.kind == transferRows {
		var err error
		if rows, err = r.allocateRows(donor, h.rows); err != nil {
			return err
		}
	}
	if r.hasState && !behind {
		return r.receiveSegments(ctx, donor, nil, length(live)+length(rows.segments()))
	}
	into := live
	if r.hasState {
		into = make([][]byte, len(live))
		for i, s := range live {
			into[i] = make([]byte, len(s))
		}
	}
	if err := r.receiveSegments(ctx, donor, append(slices.Clone(into), rows.segments()...), 0); err != nil {
		return err
	}
	if h.kind == transferRows {
		if err := r.catchUp(donor, rows); err != nil {
			return err
		}
	}
	if r.hasState {
		for i, s := range into {
			copy(live[i], s)
		}
	}
	return nil
}

// receive reads what the donor sends into buffers, and passes over so many bytes behind them.
func (r *run) receiveSegments(ctx context.Context, donor int, into [][]byte, skip int) error {
	w := &segmentWriter{donor: donor, rest: into, skip: skip}
	if err := r.team.Group.Broadcast(ctx, donor, nil, w); err != nil {
		return err
	}
	if len(w.rest) > 0 || w.skip > 0 {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent too little state", donor))
	}
	return nil
}

func length(segments [][]byte) int {
	n := 0
	for _, s := range segments {
		n += len(s)
	}
	return n
}

// segmentWriter writes a stream into a list of buffers, and leaves out the rest.
type segmentWriter struct {
	rest  [][]byte
	skip  int // bytes behind them
	donor int // the rank that sends
}

func (w *segmentWriter) Write(p []byte) (int, error) {
	n := 0
	for len(p) > 0 && len(w.rest) > 0 {
		k := copy(w.rest[0], p)
		p, n = p[k:], n+k
		if w.rest[0] = w.rest[0][k:]; len(w.rest[0]) == 0 {
			w.rest = w.rest[1:]
		}
	}
	if len(p) > w.skip {
		return n, exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent too much state", w.donor))
	}
	w.skip -= len(p)
	return n + len(p), nil
}
