package ring

import (
	"fmt"
)

// collect is the exchange in which all workers get all rows.
func (x *rowExchange) collect(hash uint32) error {
	w := x.w
	x.writer.reset(MaxGatheredBytes)
	for i := range x.tables {
		if x.reader.wanted[i] {
			x.writer.table(x.tables[i].own, 0, x.tables[i].Width, true)
			x.reader.ranges[i] = rowRange{0, uint64(x.tables[i].Rows)}
		}
	}
	if n := len(x.writer.bytes); n > MaxGatheredBytes/w.members.Size() {
		return w.g.end(fmt.Errorf("ring: rows %d: %d bytes, want at most %d: the other ranks have the rest of %d", w.g.op.seq, n, MaxGatheredBytes/w.members.Size(), MaxGatheredBytes))
	}
	x.gathered.hold(w.members.Size())
	if err := w.gather.around(x.writer.bytes, &x.gathered, termsOf(opRows, int(hash))); err != nil {
		return err
	}
	for at, worker := range w.places.worker {
		if err := x.readAll(at, x.gathered.At(worker)); err != nil {
			from := w.members.Workers[worker]
			return w.g.end(&PeerError{Op: opRows.String(), Seq: w.g.op.seq, Rank: from.Rank, Host: from.Host, Addr: from.Addr, Err: withCode(err)})
		}
	}
	for i := range x.tables {
		if x.reader.wanted[i] {
			x.tables[i].mergeAll(&x.merger)
		}
	}
	return nil
}

// readAll reads the message of the worker at a position.
func (x *rowExchange) readAll(at int, message []byte) error {
	for i := range x.tables {
		x.tables[i].theirs[at].n = 0
	}
	x.reader.begin()
	x.step = at
	err := x.read(message, func(x *rowExchange, table int, _ bool) {
		t := &x.tables[table]
		t.theirs[x.step].append(x.block, t.Width)
	})
	if err == nil && !x.reader.done() {
		err = fmt.Errorf("%w: table %d: rows end after %d bytes", ErrCorruptFrame, x.reader.table, len(message))
	}
	return err
}

// mergeAll sums all workers' rows of a table.
func (t *rowTable) mergeAll(m *merger) {
	total := 0
	for at := range t.theirs {
		m.sources[at] = t.theirs[at].rows(t.Width)
		total += t.theirs[at].n
	}
	t.sum.more(total, t.Width)
	t.sum.n += m.merge(t.sum.room, t.Width)
	t.parts[0] = rowPart{rowRange{0, uint64(t.Rows)}, 0, t.sum.n}
}
