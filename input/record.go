package input

// Record returns the number in the files of the data set, from 0, of example i of a batch that Next
// has returned.
func (s *Source) Record(b *Batch, i int) int {
	c := s.reader.config
	all := newSequence(&s.reader.facts, c.Shuffle, c.Seed, b.Epoch)
	from, to := Share(b.Global, c.Rank, c.Size)
	for _, place := range b.Bad { // ascending
		if place <= i {
			i++
		}
	}
	record := all.share(nil, int(b.Offset), int(b.Offset)+b.Global, from, to)[i]
	if v, ok := s.reader.data.(*view); ok {
		record = v.record(record)
	}
	return record
}
