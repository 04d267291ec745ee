package text

import (
	"ringtrain/input"
	"ringtrain/input/internal/shelf"
)

// manyRecords is how many records are read with one lock, and are fetched from memory side by
// side: as many as a window has blocks.
const manyRecords = input.WindowBlocks

// many is the memory of AppendAll.
type many struct {
	at, places []int
	blocks     []*shelf.Block[lines]
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

// appendMany adds at most manyRecords records. Before it parses the first line it touches all
// of them: shuffled lines lie apart, and the processor then waits for many at a time.
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
	for i, block := range m.blocks {
		m.touched |= block.Data.line(m.places[i])[0]
	}
	for i, block := range m.blocks {
		if err := s.config.Parse(b, block.Data.line(m.places[i])); err != nil {
			return s.lineError(records[i], m.at[i], block.Data.offset(m.places[i]), err)
		}
	}
	return nil
}
