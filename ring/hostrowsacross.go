package ring

// driveRows is what workers of a host do where there are other hosts: each driver sums
// its share of the ids over the host, and then over all hosts.
func (h *host) driveRows(s *RowSum) error {
	for i := range s.tables {
		s.tables[i].splitAfter(s.sums)
	}
	if h.across == nil {
		return nil
	}
	for i := range s.tables {
		t := &s.tables[i]
		if len(h.workers) == 1 {
			s.aim(i, t.mine, 0, 1)
			continue
		}
		t.merged.n = 0
		if err := h.mergeRange(s, i, t.share(h.local, h.drivers), &t.merged); err != nil {
			return err
		}
		s.aim(i, t.merged.rows(t.Width), h.local, h.drivers)
	}
	if err := h.sumAcross(s); err != nil {
		return err
	}
	parts := s.pieces / h.drivers
	for i := range s.tables {
		t, x := &s.tables[i], &s.x.tables[i]
		said := h.saidOf(h.ownBuffer(), i, parts)
		said[0], said[1] = 0, finiteWord(x.sum.rows(t.Width))
		if x.sum.moved {
			said[0] = uint32(min(uint64(len(x.sum.room.ids)), t.mostRoom()))
		}
		for k, part := range s.x.order {
			said[2+2*k], said[3+2*k] = uint32(x.parts[part].from), uint32(x.parts[part].rows)
		}
	}
	return nil
}

// sumAcross sums what this driver has of its host over all hosts.
func (h *host) sumAcross(s *RowSum) error {
	if err := s.sumDense(h.g.op.ctx, h.across, h.local, h.drivers); err != nil {
		return err
	}
	return s.exchange(h.g.op.ctx, h.across)
}
