package ring

import (
	"fmt"
)

// collect is the exchange in which all workers get all rows.
func (x *rowExchange) collect(hash uint32) error {
	g := x.g
	x.writer.reset(MaxGatheredBytes)
	for i := range x.tables {
		if x.reader.wanted[i] {
			x.writer.table(x.tables[i].own, 0, x.tables[i].Width, true)
			x.reader.ranges[i] = rowRange{0, uint64(x.tables[i].Rows)}
		}
	}
	if n := len(x.writer.bytes); n > MaxGatheredBytes/g.members.Size() {
		return g.end(fmt.Errorf("ring: rows %d: %d bytes, want at most %d: the other ranks have the rest of %d", g.op.seq, n, MaxGatheredBytes/g.members.Size(), MaxGatheredBytes))
	}
	x.gathered.hold(g.members.Size())
	if err := g.gather.around(x.writer.bytes, &x.gathered, termsOf(opRows, int(hash))); err != nil {
		return err
	}
	for at, worker := range g.places.worker {
		if err := x.readAll(at, x.gathered.At(worker)); err != nil {
			w := g.members.Workers[worker]
			return g.end(&PeerError{Op: opRows.String(), Seq: g.op.seq, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: withCode(err)})
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
