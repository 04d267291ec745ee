package ring

import (
	"ringtrain/ring/internal/rows"

	"fmt"
	"slices"
)

// A rowExchange sums rows among the workers of a group, over its links.
//
// Where their number is a power of two, from four on, partners give each other one half
// of the ids that they still have to sum, across each edge in turn, then go back and
// collect the sums (as [ByHalving] does). Each id is then summed by the same tree, whoever
// sums it. Otherwise all get all rows around the ring and sum them in order of positions:
// which of two or three workers sends no more, and of more is the price of a fixed order.
type rowExchange struct {
	w      *wire
	tables []rowTable
	most   int   // bytes of a payload
	order  []int // numbers of parts, by ascending ids

	writer rows.Writer
	reader rows.Reader
	block  rows.Run // the one read last

	step    int // that frames belong to
	filled  int // frames of the message so far
	settled int // frames of the operation so far
	failed  error

	gathered Gathered
	merger   rows.Merger
}

// A rowTable is what an exchange has of one table.
type rowTable struct {
	Table
	split  rows.Split     // of its ids, for each corner
	own    rows.Run       // this worker's rows
	held   rows.Run       // the sum so far
	spare  [2]rows.Buffer // where that lies, in turn
	sum    rows.Buffer    // what comes out
	parts  []rowPart      // of it, as they were collected
	join   rows.Join
	theirs []rows.Buffer // all workers' rows
}

// A rowPart is where the sum of a range of ids lies.
type rowPart struct {
	ids        rows.Range
	from, rows int
}

// rowCorners is among how many workers the ids of an exchange are cut.
func (w *wire) rowCorners() int {
	if w.halvesRows() {
		return w.members.Size()
	}
	return 1
}

// rowParts is in how many parts the sum of an exchange lies: its own, and one from across
// each edge.
func (w *wire) rowParts() int {
	if w.halvesRows() {
		return 1 + w.doubling.plan.edges()
	}
	return 1
}

// halvesRows tells whether rows are exchanged by halving.
func (w *wire) halvesRows() bool {
	return len(w.doubling.lanes) > 0 && w.members.Size() >= 4 && w.doubling.plan.extras() == 0
}

func (x *rowExchange) init(w *wire, tables []Table) {
	x.w, x.most = w, 0
	widths := make([]int, len(tables))
	for i, t := range tables {
		widths[i] = t.Width
		x.most = max(x.most, rowPayload(w.config, t.Width))
		rt := rowTable{Table: t, split: make(rows.Split, w.rowCorners()+1), parts: make([]rowPart, w.rowParts())}
		if !w.halvesRows() {
			rt.theirs = make([]rows.Buffer, w.members.Size())
		}
		x.tables = append(x.tables, rt)
	}
	x.reader = rows.NewReader(widths)
	x.order, x.writer.OnPayload = w.rowOrder(), x.push
	if !w.halvesRows() {
		x.writer.OnPayload = nil // the message is one piece
	}
	x.merger.Init(w.members.Size())
}

// rowOrder returns the numbers of an exchange's parts, by ascending ids.
func (w *wire) rowOrder() []int {
	order := make([]int, w.rowParts())
	if len(order) == 1 {
		return order
	}
	plan := w.doubling.plan
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

// sum sums the rows of the tables that the reader wants. The operation is running.
func (x *rowExchange) sum(hash uint32) error {
	if x.w.halvesRows() {
		return x.halve(hash)
	}
	return x.collect(hash)
}

// halve is the exchange across the edges of the cube.
func (x *rowExchange) halve(hash uint32) error {
	d := &x.w.doubling
	x.w.scratch = grow(x.w.scratch, x.most)
	for k := range d.lanes {
		d.lanes[k].reset()
	}
	x.settled = 0
	t := termsOf(opRows, int(hash))
	t.word |= uint32(ByHalving) << 3
	x.w.x.start(x.w.g.op.ctx, t, x, prompt)
	err := x.give()
	if err == nil {
		err = x.fetch()
	}
	return x.w.x.finish(err)
}

// fill makes the next frame of the message.
func (x *rowExchange) fill(f *Frame) int {
	f.Payload = x.writer.Payload(x.filled)
	x.filled++
	return x.step
}

// begin readies the writer for the message of a step. What it makes is sent at once.
func (x *rowExchange) begin(step int) {
	x.step, x.filled, x.failed = step, 0, nil
	x.w.x.lane = &x.w.doubling.lanes[x.w.doubling.plan.roundOf(step)]
	x.writer.Reset(x.most)
}

// push has one more payload sent.
func (x *rowExchange) push() {
	x.settled++
	if x.failed == nil {
		x.failed = x.w.x.push(1)
	}
}

// end sends the rest of the message.
func (x *rowExchange) end() error {
	x.writer.Flush()
	return x.failed
}

// settle returns when the message is sent.
func (x *rowExchange) settle() error { return x.w.x.awaitSent(x.settled, x.step) }

// receive reads the partner's message of a step, and has take see each block.
func (x *rowExchange) receive(step int, take func(x *rowExchange, table int, last bool)) error {
	lane := &x.w.doubling.lanes[x.w.doubling.plan.roundOf(step)]
	for x.reader.Begin(); !x.reader.Done(); {
		f, err := x.w.x.receive(lane, x.w.scratch, step)
		if err != nil {
			return err
		}
		if err := x.read(f.Payload, take); err != nil {
			return x.w.fail(partner, step, err)
		}
	}
	return x.settle()
}

// read reads the blocks of a payload.
func (x *rowExchange) read(payload []byte, take func(x *rowExchange, table int, last bool)) error {
	if len(payload) == 0 {
		return fmt.Errorf("%w: payload of 0 bytes, want some rows", ErrCorruptFrame)
	}
	for len(payload) > 0 {
		table, last, rest, err := x.reader.Block(&x.block, payload)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCorruptFrame, err)
		}
		take(x, table, last)
		payload = rest
	}
	return nil
}

// give is reduce-scatter: after it each worker has the sum of its part.
func (x *rowExchange) give() error {
	plan := x.w.doubling.plan
	corner := plan.corner(x.w.places.me)
	for i := range x.tables {
		x.tables[i].held = x.tables[i].own
	}
	for edge := range plan.edges() {
		given := plan.share(plan.size, corner^1<<edge, edge+1)
		kept := plan.share(plan.size, corner, edge+1)
		step := plan.before() + edge
		x.begin(step)
		for i := range x.tables {
			if x.reader.Wanted[i] {
				x.giveTable(i, given, kept, edge, corner>>edge&1 == 0)
			}
		}
		if err := x.end(); err != nil {
			return err
		}
		if err := x.receive(step, (*rowExchange).add); err != nil {
			return err
		}
		for i := range x.tables {
			if t := &x.tables[i]; x.reader.Wanted[i] {
				t.held = t.into(edge, plan.edges()).Rows(t.Width)
			}
		}
	}
	for i := range x.tables {
		if t := &x.tables[i]; x.reader.Wanted[i] {
			t.parts[0] = rowPart{t.ids(plan.share(plan.size, corner, plan.edges())), 0, t.sum.Len()}
		}
	}
	return nil
}

// giveTable writes what the partner is to sum of a table, and readies what is kept.
func (x *rowExchange) giveTable(i int, given, kept span, edge int, first bool) {
	t := &x.tables[i]
	gone := t.ids(given)
	x.writer.Write(t.held.Within(gone, t.Width), gone.Lo, t.Width, true)
	x.reader.Ranges[i] = t.ids(kept)
	t.join = rows.NewJoin(t.held.Within(x.reader.Ranges[i], t.Width), first)
	t.into(edge, x.w.doubling.plan.edges()).Clear()
}

// into is where the sum across an edge goes: of the last, to what comes out.
func (t *rowTable) into(edge, edges int) *rows.Buffer {
	if edge == edges-1 {
		return &t.sum
	}
	return &t.spare[edge&1]
}

// add adds a block from the partner across an edge.
func (x *rowExchange) add(table int, last bool) {
	t, plan := &x.tables[table], x.w.doubling.plan
	k := t.into(x.step-plan.before(), plan.edges())
	t.join.Add(k, x.block, t.Width)
	if last {
		t.join.End(k, t.Width)
	}
}

// fetch is all-gather: it goes back across the edges and collects the sums.
func (x *rowExchange) fetch() error {
	plan := x.w.doubling.plan
	corner := plan.corner(x.w.places.me)
	for edge := plan.edges() - 1; edge >= 0; edge-- {
		given := plan.share(plan.size, corner^1<<edge, edge+1)
		collected := plan.edges() - edge
		step := plan.back(plan.before() + edge)
		x.begin(step)
		for i := range x.tables {
			if x.reader.Wanted[i] {
				x.tables[i].returnTo(&x.writer, x.order, collected)
				x.reader.Ranges[i] = x.tables[i].ids(given)
				x.tables[i].parts[collected] = rowPart{ids: x.reader.Ranges[i], from: x.tables[i].sum.Len()}
			}
		}
		if err := x.end(); err != nil {
			return err
		}
		if err := x.receive(step, (*rowExchange).keep); err != nil {
			return err
		}
		for i := range x.tables {
			if t := &x.tables[i]; x.reader.Wanted[i] {
				t.parts[collected].rows = t.sum.Len() - t.parts[collected].from
			}
		}
	}
	return nil
}

// returnTo writes the parts that are collected so far, in order of ids.
func (t *rowTable) returnTo(w *rows.Writer, order []int, collected int) {
	left, next := collected, uint64(0)
	for _, k := range order {
		if k >= collected {
			continue
		}
		p := t.parts[k]
		if left == collected {
			next = p.ids.Lo
		}
		left--
		next = w.Write(t.sum.Memory().Cut(p.from, p.from+p.rows, t.Width), next, t.Width, left == 0)
	}
}

// ids are those of some parts into which a table is cut.
func (t *rowTable) ids(s span) rows.Range { return rows.Range{Lo: t.split[s.lo], Hi: t.split[s.hi]} }

// keep appends a block of sums.
func (x *rowExchange) keep(table int, _ bool) {
	t := &x.tables[table]
	t.sum.Append(x.block, t.Width)
}

// rowPayload is how long a payload with rows may be: short, so that the receiver adds
// one while the next is on its way, but with room for a row of each table.
func rowPayload(c Config, width int) int {
	return max(min(c.frameBytes(), eagerBytes), rows.MinPayload(width))
}

// collect is the exchange in which all workers get all rows.
func (x *rowExchange) collect(hash uint32) error {
	w := x.w
	x.writer.Reset(MaxGatheredBytes)
	for i := range x.tables {
		if x.reader.Wanted[i] {
			x.writer.Write(x.tables[i].own, 0, x.tables[i].Width, true)
			x.reader.Ranges[i] = rows.Range{Hi: uint64(x.tables[i].Rows)}
		}
	}
	if n := len(x.writer.Bytes()); n > MaxGatheredBytes/w.members.Size() {
		return w.g.end(fmt.Errorf("ring: rows %d: %d bytes, want at most %d: the other ranks have the rest of %d", w.g.op.seq, n, MaxGatheredBytes/w.members.Size(), MaxGatheredBytes))
	}
	x.gathered.hold(w.members.Size())
	if err := w.gather.around(x.writer.Bytes(), &x.gathered, termsOf(opRows, int(hash))); err != nil {
		return err
	}
	for at, worker := range w.places.worker {
		if err := x.readAll(at, x.gathered.At(worker)); err != nil {
			from := w.members.Workers[worker]
			return w.g.end(&PeerError{Op: opRows.String(), Seq: w.g.op.seq, Rank: from.Rank, Host: from.Host, Addr: from.Addr, Err: withCode(err)})
		}
	}
	for i := range x.tables {
		if x.reader.Wanted[i] {
			x.tables[i].mergeAll(&x.merger)
		}
	}
	return nil
}

// readAll reads the message of the worker at a position.
func (x *rowExchange) readAll(at int, message []byte) error {
	for i := range x.tables {
		x.tables[i].theirs[at].Clear()
	}
	x.reader.Begin()
	x.step = at
	err := x.read(message, func(x *rowExchange, table int, _ bool) {
		t := &x.tables[table]
		t.theirs[x.step].Append(x.block, t.Width)
	})
	if err == nil && !x.reader.Done() {
		err = fmt.Errorf("%w: table %d: rows end after %d bytes", ErrCorruptFrame, x.reader.Table(), len(message))
	}
	return err
}

// mergeAll sums all workers' rows of a table.
func (t *rowTable) mergeAll(m *rows.Merger) {
	for at := range t.theirs {
		m.Sources[at] = t.theirs[at].Rows(t.Width)
	}
	t.sum.AppendSum(m, t.Width)
	t.parts[0] = rowPart{rows.Range{Hi: uint64(t.Rows)}, 0, t.sum.Len()}
}
