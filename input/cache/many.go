package cache

import (
	"ringtrain/input"
	"ringtrain/input/internal/shelf"
	"ringtrain/ring/exitcode"
)

// manyRecords is how many records are read with one lock, and are fetched from memory side by
// side: as many as a window has blocks.
const manyRecords = input.WindowBlocks

// many is the memory of AppendAll.
type many struct {
	at, places []int
	blocks     []*shelf.Block[block]
	touched    byte
}

// AppendAll adds records in their order.
func (s *Set) AppendAll(b *input.Batch, records []int) error {
	m, ok := s.idle.Get().(*many)
	if !ok {
		m = new(many)
	}
	defer s.idle.Put(m)
	for len(records) > 0 {
		n := min(len(records), manyRecords)
		if err := s.appendMany(b, records[:n], m); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// appendMany adds at most manyRecords records. Before it copies the first it touches all of
// them: shuffled records lie apart, and the processor then waits for many at a time.
func (s *Set) appendMany(b *input.Batch, records []int, m *many) error {
	m.at, m.places = m.at[:0], m.places[:0]
	for _, i := range records {
		at, k := s.blocks.Find(i)
		m.at, m.places = append(m.at, at), append(m.places, k)
	}
	var err error
	if m.blocks, err = s.shelf.GetAll(m.blocks[:0], m.at); err != nil {
		return err
	}
	defer s.shelf.PutAll(m.blocks)
	for i, held := range m.blocks {
		m.touched |= held.Data.touch(m.places[i])
	}
	for i, held := range m.blocks {
		if err := held.Data.append(b, m.places[i], s.meta.Features); err != nil {
			if exitcode.Of(err) != exitcode.BadData {
				return s.flaw(m.at[i], err)
			}
			return err
		}
	}
	return nil
}

// touch reads a byte of each part of record k.
func (b *block) touch(k int) byte {
	touched := b.labels[4*k]
	if b.fields > 0 {
		starts := b.starts[4*k*b.fields:]
		if at := 4 * int(uint32(starts[0])|uint32(starts[1])<<8|uint32(starts[2])<<16|uint32(starts[3])<<24); at < len(b.ids) {
			touched |= b.ids[at]
			if at+64 < len(b.ids) {
				touched |= b.ids[at+64]
			}
		}
	}
	return touched
}
