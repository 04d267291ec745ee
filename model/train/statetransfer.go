package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A generation begins with the newest state of a living rank, the donor:
//
//	all-gather   the step of each rank's state
//	broadcast    the header: the progress of the newest state and the kind of the transfer,
//	             from the lowest rank that holds this state
//	broadcast    the state, unless all ranks hold it
//
// Ranks of one job differ by at most one step, because a step needs all of them. An update follows a
// complete sum, so the bits after a step are equal on every rank that completed the step. So at most
// the step in flight is repeated, and a rank with the newest state keeps its values. If no rank holds
// a state, as in the first generation, rank 0 restores or initializes the state.
//
// Tables may be large. A rank that is one step behind receives the rows that this step summed, and
// makes the step itself. If the first values depend on the seed alone, each rank initializes its own
// tables.

// transferKind is the kind of data that follows a header.
type transferKind int64

const (
	transferNone        transferKind = iota // nothing: all ranks hold the state
	transferRows                            // all but tables and their slots; then the rows of the last step
	transferInitialized                     // all but tables and their slots, which each rank initializes
	transferAll                             // the whole state
	transferKinds
)

// transfer gives the ranks of a new generation the same replica.
type transfer struct {
	group    *ring.Group
	replica  *replica
	rowWidth int // elements of a row of all tables
	seed     uint64
	compares bool // the replicas are compared: see Loop.Mix
}

// sync gives all ranks the same state: the newest state of a living rank, or else the state that fresh
// returns on rank 0. So only rank 0 needs the disk. FromPeer reports whether a living rank had the
// state, and behind whether this rank had the state of the step before.
func (t *transfer) sync(ctx context.Context, fresh func(ctx context.Context) (progress, error)) (fromPeer, behind bool, err error) {
	p, rank := t.replica, t.group.Membership().Rank
	all, err := t.gatherReports(ctx)
	if err != nil {
		return false, false, err
	}
	donor, level := newestState(all)
	fromPeer = donor >= 0
	h := stateHeader{progress: p.progress, agreed: p.agreed, kind: transferAll}
	switch {
	case !fromPeer:
		donor = 0
		if rank == 0 {
			h = stateHeader{kind: transferAll}
			if h.progress, err = fresh(ctx); err != nil {
				return false, false, err
			}
		}
	case level:
		h.kind = transferNone
	case rank == donor && rowsSuffice(all, donor):
		h.kind, h.rows = transferRows, p.lastRows.rowsHead
	}
	if h.kind == transferAll && p.fromSeed && h.progress.step == 0 && p.tableRows() > 0 {
		h.kind = transferInitialized
	}
	if h, err = t.broadcastHeader(ctx, donor, h); err != nil {
		return fromPeer, false, err
	}
	behind = p.hasState && p.progress.step < all[donor].step
	if err := t.state(ctx, donor, h, behind); err != nil {
		return fromPeer, behind, err
	}
	if p.hasState && (!behind || h.kind == transferRows) {
		h.progress.mix = p.progress.mix // keeps its own digest for the next comparison
	}
	p.progress, p.agreed, p.hasState, p.fromSeed = h.progress, h.agreed, true, p.fromSeed || h.kind == transferInitialized
	return fromPeer, behind, nil
}

// state sends or receives the state that follows the header h.
func (t *transfer) state(ctx context.Context, donor int, h stateHeader, behind bool) error {
	p := t.replica
	switch {
	case h.kind == transferNone:
		return nil
	case t.group.Membership().Rank == donor:
		state := p.segments(h.kind == transferAll)
		if h.kind == transferRows {
			state = append(state, p.lastRows.segments()...)
		}
		return share(ctx, t.group, donor, state)
	case h.kind == transferInitialized && !p.hasState:
		if err := p.initialize(ctx, t.seed); err != nil {
			return err
		}
	}
	return t.receive(ctx, donor, h, behind)
}

// stateReport describes the state of one rank.
type stateReport struct {
	hasState bool  // the rank holds a state
	rows     bool  // the rank also holds the rows that its last step summed
	step     int64 // last step of the state
}

// encode returns hasState and rows as bits of an int64, then step as int64, little-endian.
func (s stateReport) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(bit(s.hasState)+2*bit(s.rows)))
	return binary.LittleEndian.AppendUint64(b, uint64(s.step))
}

func decodeStateReport(b []byte) stateReport {
	flags := binary.LittleEndian.Uint64(b)
	return stateReport{flags&1 == 1, flags&2 == 2, int64(binary.LittleEndian.Uint64(b[8:]))}
}

// newestState returns the lowest rank that holds the newest state, −1 if no rank holds a state. Level
// reports whether all ranks hold that state.
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

// rowsSuffice reports whether the last rows of the donor bring every rank to the donor's state: each
// rank holds that state or the state one step before.
func rowsSuffice(all []stateReport, donor int) bool {
	for _, s := range all {
		if !s.hasState || s.step < all[donor].step-1 {
			return false
		}
	}
	return all[donor].rows
}

// gatherReports gathers the reports of all ranks.
func (t *transfer) gatherReports(ctx context.Context) ([]stateReport, error) {
	p := t.replica
	all, err := gatherEqual(ctx, t.group, stateReport{p.hasState, p.lastRows.step == p.progress.step && p.progress.step > 0, p.progress.step}.encode())
	if err != nil {
		return nil, err
	}
	reports := make([]stateReport, t.group.Membership().Size())
	for rank := range reports {
		reports[rank] = decodeStateReport(all.At(rank))
	}
	return reports, nil
}

// stateHeader precedes the variables and slots in a transfer: the progress of the run, and the
// requests of the last step that are not carried out yet.
type stateHeader struct {
	progress progress
	agreed   Agreed
	kind     transferKind
	rows     rowsHead // with transferRows
}

// agreedBytes is the length of an encoded Agreed.
const agreedBytes = 48

const stateHeaderBytes = agreedBytes + progressBytes + 8 + rowsHeadBytes

// encode returns loss as float64, then examples, first, stop, checkpoint and evaluate as int64, all
// little-endian, then the progress, the kind as int64, and the head of the rows.
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

// bit returns 1 for true and 0 for false.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// broadcastHeader sends the header from the donor to all ranks and returns it.
func (t *transfer) broadcastHeader(ctx context.Context, donor int, h stateHeader) (stateHeader, error) {
	head := h.encode()
	err := share(ctx, t.group, donor, [][]byte{head})
	if err != nil {
		return h, err
	}
	if h = decodeStateHeader(head); h.kind < 0 || h.kind >= transferKinds {
		err = exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent a state of kind %d, want a kind below %d", donor, h.kind, transferKinds))
	}
	return h, err
}

// receive receives the state, if this rank needs it. A rank that is behind keeps its own state until it
// has received all of the other.
func (t *transfer) receive(ctx context.Context, donor int, h stateHeader, behind bool) error {
	hasState, live := t.replica.hasState, t.replica.segments(h.kind == transferAll)
	var rows lastRows
	if h.kind == transferRows {
		var err error
		if rows, err = t.allocateRows(donor, h.rows); err != nil {
			return err
		}
	}
	if hasState && !behind {
		return receiveSegments(ctx, t.group, donor, nil, length(live)+length(rows.segments()))
	}
	into := live
	if hasState {
		into = make([][]byte, len(live))
		for i, s := range live {
			into[i] = make([]byte, len(s))
		}
	}
	if err := receiveSegments(ctx, t.group, donor, append(slices.Clone(into), rows.segments()...), 0); err != nil {
		return err
	}
	if h.kind == transferRows {
		if err := t.catchUp(donor, rows); err != nil {
			return err
		}
	}
	if hasState {
		for i, s := range into {
			copy(live[i], s)
		}
	}
	return nil
}

// share sends the bytes of the donor's buffers into those of all other ranks. It uses up the list.
func share(ctx context.Context, g *ring.Group, donor int, buffers [][]byte) error {
	buffers = slices.DeleteFunc(buffers, func(b []byte) bool { return len(b) == 0 })
	if g.Membership().Rank != donor {
		return receiveSegments(ctx, g, donor, buffers, 0)
	}
	var readers []io.Reader
	for _, b := range buffers {
		readers = append(readers, bytes.NewReader(b))
	}
	return g.Broadcast(ctx, donor, io.MultiReader(readers...), nil)
}

// receiveSegments reads the donor's bytes into buffers, then skips so many bytes.
func receiveSegments(ctx context.Context, g *ring.Group, donor int, into [][]byte, skip int) error {
	w := &segmentWriter{donor: donor, rest: into, skip: skip}
	if err := g.Broadcast(ctx, donor, nil, w); err != nil {
		return err
	}
	if len(w.rest) > 0 || w.skip > 0 {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent too little state", donor))
	}
	return nil
}

// length returns the total length of the segments.
func length(segments [][]byte) int {
	n := 0
	for _, s := range segments {
		n += len(s)
	}
	return n
}

// segmentWriter writes a stream into a list of buffers, then skips bytes.
type segmentWriter struct {
	rest  [][]byte
	skip  int // bytes after the buffers
	donor int // rank of the sender
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
