package ring

import (
	"fmt"
	"slices"

	"ringtrain/ring/internal/rows"
	"ringtrain/ring/internal/vec"
)

// rowExchange sums rows among the workers of a wire.
//
// If their number is a power of two, from four on, the exchange is recursive halving, as in
// [ByHalving]. Across each edge of the cube partners give each other one half of the ids
// that they still have to sum. Then they go back and collect the sums. One tree sums each
// id, whichever worker holds it.
//
// Otherwise all workers get all rows around the ring and sum them in order of positions. Two
// or three workers send no more that way; more workers do, which is the price of a fixed
// order.
type rowExchange struct {
	plan   cube   // of the wire
	at     places // of the wire
	tables []tableExchange
	limit  int   // bytes of a payload
	order  []int // indices of tableExchange.parts by ascending ids

	writer rows.Writer
	reader rows.Reader
	block  rows.Run // read last

	step    int // of the current message
	framed  int // frames of the current message so far
	queued  int // frames of the operation so far
	pushErr error

	gathered Gathered
	merger   rows.Merger
}

// tableExchange is the exchange of one table.
type tableExchange struct {
	Table
	split   rows.Split     // of the ids, for each corner
	own     rows.Run       // this worker's rows
	partial rows.Run       // the sum so far
	spare   [2]rows.Buffer // memory of partial, in turn
	sum     rows.Buffer    // the result
	parts   []rowPart      // of the result, in order of arrival
	join    rows.Join      // of the running step
	theirs  []rows.Buffer  // all workers' rows, by position; nil with halving
}

// rowPart is the place of the sum of a range of ids in the result.
type rowPart struct {
	ids        rows.Range
	from, rows int
}

// halvesRows reports whether rows are exchanged by recursive halving.
func (w *wire) halvesRows() bool {
	return len(w.rounds.peers) > 0 && w.members.Size() >= 4 && w.rounds.plan.extras() == 0
}

// rowCorners returns the number of workers among which an exchange divides the ids.
func (w *wire) rowCorners() int {
	if w.halvesRows() {
		return w.members.Size()
	}
	return 1
}

// rowParts returns the number of parts of a result: this worker's own, and one from across
// each edge.
func (w *wire) rowParts() int {
	if w.halvesRows() {
		return 1 + w.rounds.plan.edges()
	}
	return 1
}

// rowOrder returns the indices of the parts of a result by ascending ids.
func (w *wire) rowOrder() []int {
	order := make([]int, w.rowParts())
	if len(order) == 1 {
		return order
	}
	plan := w.rounds.plan
	corner, first := plan.corner(w.places.me), make([]int, len(order))
	first[0] = plan.share(plan.size, corner, plan.edges()).lo
	for k := range order {
		order[k] = k
		if edge := plan.edges() - k; k > 0 {
			first[k] = plan.share(plan.size, corner^1<<edge, edge+1).lo
		}
	}
	slices.SortFunc(order, func(a, b int) int { return first[a] - first[b] })
	return order
}

// rowPayload returns the limit of a payload of rows. It is small, so that the receiver adds
// one payload while the next is on its way, but has room for one row.
func rowPayload(c Config, width int) int {
	return max(min(c.frameBytes(), eagerBytes), rows.MinPayload(width))
}

// init prepares r for exchanges of tables over w. On a worker that is no driver there are none.
func (r *rowExchange) init(w *wire, tables []Table) {
	r.plan, r.at, r.limit = w.rounds.plan, w.places, 0
	widths := make([]int, len(tables))
	for i, t := range tables {
		widths[i] = t.Width
		r.limit = max(r.limit, rowPayload(w.config, t.Width))
		e := tableExchange{Table: t, split: make(rows.Split, w.rowCorners()+1), parts: make([]rowPart, w.rowParts())}
		if !w.halvesRows() {
			e.theirs = make([]rows.Buffer, w.members.Size())
		}
		r.tables = append(r.tables, e)
	}
	r.reader = rows.NewReader(widths)
	r.order = w.rowOrder()
	r.merger.Init(w.members.Size())
}

// run sums the rows of the tables that the reader wants, as a part of the running operation.
func (r *rowExchange) run(op *operation, w *wire, hash uint32) error {
	if w.halvesRows() {
		return r.halve(op, w, hash)
	}
	return r.collect(op, w, hash)
}

// halve is the exchange by recursive halving.
func (r *rowExchange) halve(op *operation, w *wire, hash uint32) error {
	d := &w.rounds
	w.scratch = vec.Resize(w.scratch, r.limit)
	for k := range d.peers {
		d.peers[k].reset()
	}
	r.queued = 0
	t := terms{kind: opRows, root: hash, algorithm: ByHalving}
	w.start(op, t, r, prompt)
	err := r.reduceScatter(w)
	if err == nil {
		err = r.allGather(w)
	}
	return w.finish(err)
}

// fill sets the payload of the next frame of the message and returns its step.
func (r *rowExchange) fill(f *Frame) int {
	f.Payload = r.writer.Payload(r.framed)
	r.framed++
	return r.step
}

// begin prepares the writer for the message of a step. Its payloads are sent as soon as they
// are complete.
func (r *rowExchange) begin(w *wire, step int) {
	r.step, r.framed, r.pushErr = step, 0, nil
	w.peer = &w.rounds.peers[r.plan.roundOf(step)]
	r.writer.Reset(r.limit)
}

// push queues one more payload for sending.
func (r *rowExchange) push(w *wire) {
	r.queued++
	if r.pushErr == nil {
		r.pushErr = w.push(1)
	}
}

// end queues the rest of the message.
func (r *rowExchange) end(w *wire) error {
	r.writer.Flush(func() { r.push(w) })
	return r.pushErr
}

// receive reads the partner's message of a step and calls take for each block. It returns
// after this worker's message has been sent.
func (r *rowExchange) receive(w *wire, step int, take func(x *rowExchange, table int, last bool)) error {
	for r.reader.Begin(); !r.reader.Done(); {
		f, err := w.receive(w.scratch, step)
		if err != nil {
			return err
		}
		if err := r.read(f.Payload, take); err != nil {
			return w.fail(partner, step, err)
		}
	}
	return w.awaitSent(r.queued, r.step)
}

// read decodes the blocks of a payload and calls take for each.
func (r *rowExchange) read(payload []byte, take func(x *rowExchange, table int, last bool)) error {
	if len(payload) == 0 {
		return fmt.Errorf("%w: payload of 0 bytes, want some rows", ErrCorruptFrame)
	}
	for len(payload) > 0 {
		table, last, rest, err := r.reader.Block(&r.block, payload)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCorruptFrame, err)
		}
		take(r, table, last)
		payload = rest
	}
	return nil
}

// reduceScatter leaves each worker with the sum of its own part.
func (r *rowExchange) reduceScatter(w *wire) error {
	plan := r.plan
	corner := plan.corner(r.at.me)
	for i := range r.tables {
		r.tables[i].partial = r.tables[i].own
	}
	for edge := range plan.edges() {
		step := plan.before() + edge
		r.begin(w, step)
		for i := range r.tables {
			if r.reader.Wanted[i] {
				r.writeHalf(w, i, edge)
			}
		}
		if err := r.end(w); err != nil {
			return err
		}
		if err := r.receive(w, step, (*rowExchange).addBlock); err != nil {
			return err
		}
		for i := range r.tables {
			if t := &r.tables[i]; r.reader.Wanted[i] {
				t.partial = t.target(edge, plan.edges()).Rows(t.Width)
			}
		}
	}
	for i := range r.tables {
		if t := &r.tables[i]; r.reader.Wanted[i] {
			t.parts[0] = rowPart{t.ids(plan.share(plan.size, corner, plan.edges())), 0, t.sum.Len()}
		}
	}
	return nil
}

// writeHalf writes the half of a table that the partner across an edge sums, and prepares the
// sum of the half that this worker keeps.
func (r *rowExchange) writeHalf(w *wire, i, edge int) {
	t, plan := &r.tables[i], r.plan
	corner := plan.corner(r.at.me)
	theirs := t.ids(plan.share(plan.size, corner^1<<edge, edge+1))
	r.writer.Write(t.partial.Within(theirs, t.Width), theirs.Lo, t.Width, true, func() { r.push(w) })
	r.reader.Ranges[i] = t.ids(plan.share(plan.size, corner, edge+1))
	thisFirst := corner>>edge&1 == 0 // this worker's rows are the left operand
	t.join = rows.NewJoin(t.partial.Within(r.reader.Ranges[i], t.Width), thisFirst)
	t.target(edge, plan.edges()).Clear()
}

// target returns the buffer of the sum across an edge: the result for the last edge.
func (t *tableExchange) target(edge, edges int) *rows.Buffer {
	if edge == edges-1 {
		return &t.sum
	}
	return &t.spare[edge&1]
}

// addBlock adds a block from the partner across an edge.
func (r *rowExchange) addBlock(table int, last bool) {
	t, plan := &r.tables[table], r.plan
	b := t.target(r.step-plan.before(), plan.edges())
	t.join.Add(b, r.block, t.Width)
	if last {
		t.join.End(b, t.Width)
	}
}

// allGather goes back across the edges and collects the sums of all parts.
func (r *rowExchange) allGather(w *wire) error {
	plan := r.plan
	corner := plan.corner(r.at.me)
	for edge := plan.edges() - 1; edge >= 0; edge-- {
		theirs := plan.share(plan.size, corner^1<<edge, edge+1)
		collected := plan.edges() - edge
		step := plan.back(plan.before() + edge)
		r.begin(w, step)
		for i := range r.tables {
			if r.reader.Wanted[i] {
				r.writeParts(w, i, collected)
				r.reader.Ranges[i] = r.tables[i].ids(theirs)
				r.tables[i].parts[collected] = rowPart{ids: r.reader.Ranges[i], from: r.tables[i].sum.Len()}
			}
		}
		if err := r.end(w); err != nil {
			return err
		}
		if err := r.receive(w, step, (*rowExchange).appendBlock); err != nil {
			return err
		}
		for i := range r.tables {
			if t := &r.tables[i]; r.reader.Wanted[i] {
				t.parts[collected].rows = t.sum.Len() - t.parts[collected].from
			}
		}
	}
	return nil
}

// writeParts writes the parts collected so far, by ascending ids.
func (r *rowExchange) writeParts(w *wire, table, collected int) {
	t := &r.tables[table]
	left, next := collected, uint64(0)
	for _, k := range r.order {
		if k >= collected {
			continue
		}
		p := t.parts[k]
		if left == collected {
			next = p.ids.Lo
		}
		left--
		part := t.sum.Memory().Cut(p.from, p.from+p.rows, t.Width)
		next = r.writer.Write(part, next, t.Width, left == 0, func() { r.push(w) })
	}
}

// ids returns the range of ids of consecutive corners.
func (t *tableExchange) ids(corners span) rows.Range {
	return rows.Range{Lo: t.split[corners.lo], Hi: t.split[corners.hi]}
}

// appendBlock appends a block of sums to the result.
func (r *rowExchange) appendBlock(table int, _ bool) {
	t := &r.tables[table]
	t.sum.Append(r.block, t.Width)
}

// collect is the exchange in which all workers get all rows.
func (r *rowExchange) collect(op *operation, w *wire, hash uint32) error {
	r.writer.Reset(MaxGatheredBytes)
	for i := range r.tables {
		if r.reader.Wanted[i] {
			r.writer.Write(r.tables[i].own, 0, r.tables[i].Width, true, func() {}) // the message is one piece
			r.reader.Ranges[i] = rows.Range{Hi: uint64(r.tables[i].Rows)}
		}
	}
	if n := len(r.writer.Bytes()); n > MaxGatheredBytes/w.members.Size() {
		return fmt.Errorf("ring: rows %d: %d bytes, want at most %d: the other ranks have the rest of %d", op.seq, n, MaxGatheredBytes/w.members.Size(), MaxGatheredBytes)
	}
	if err := w.gather.around(w, op, r.writer.Bytes(), &r.gathered, terms{kind: opRows, root: hash}); err != nil {
		return err
	}
	for at, worker := range w.places.worker {
		if err := r.readMessage(at, r.gathered.At(worker)); err != nil {
			return op.errorOf(w.members.Workers[worker], err)
		}
	}
	for i := range r.tables {
		if r.reader.Wanted[i] {
			r.tables[i].mergeAll(&r.merger)
		}
	}
	return nil
}

// readMessage decodes the message of the worker at a position.
func (r *rowExchange) readMessage(at int, message []byte) error {
	for i := range r.tables {
		r.tables[i].theirs[at].Clear()
	}
	r.reader.Begin()
	r.step = at
	err := r.read(message, func(x *rowExchange, table int, _ bool) {
		t := &x.tables[table]
		t.theirs[x.step].Append(x.block, t.Width)
	})
	if err == nil && !r.reader.Done() {
		err = fmt.Errorf("%w: table %d: rows end after %d bytes", ErrCorruptFrame, r.reader.Table(), len(message))
	}
	return err
}

// mergeAll sums all workers' rows of a table.
func (t *tableExchange) mergeAll(m *rows.Merger) {
	for at := range t.theirs {
		m.Sources[at] = t.theirs[at].Rows(t.Width)
	}
	t.sum.AppendSum(m, t.Width)
	t.parts[0] = rowPart{rows.Range{Hi: uint64(t.Rows)}, 0, t.sum.Len()}
}
