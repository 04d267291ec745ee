package rendezvous

import "slices"

// The end of a job is told to all workers on their streams. Streams may just then be
// broken, without our having seen it: the rendezvous stood still, or was killed after
// it had decided the end. Workers of a rendezvous with a journal come back for the
// end, so it stays for them.

// conclude tells the owner of the end. Just after a pause of ours the workers come
// first: some have given up the streams on which they were told.
func (s *State) conclude() {
	if s.generation > 0 && s.now < s.mercy {
		s.farewell = s.mercy
		return
	}
	s.do(Finish{s.cause})
}

// heard takes in that a worker knows the end.
func (s *State) heard(e Heard) {
	if m := s.byID[e.Stream]; m != nil && s.phase == finished {
		s.remove(m, "was here, has heard the end")
	}
}

// bidFarewell ends a job whose workers were awaited for the end, when all have heard
// it or their time is over.
func (s *State) bidFarewell() {
	if s.farewell == 0 {
		return
	}
	if s.now < s.farewell && slices.ContainsFunc(s.here, func(m *member) bool { return !m.gone }) {
		return
	}
	s.farewell = 0
	s.do(Finish{s.cause})
}
