package rendezvous

// A backlog holds the effects that wait for the journal, in order. What follows a record
// is not known to anybody before the record is durable. The state goes on meanwhile: a
// disk may take long, and workers must be heard and answered.
type backlog struct{ list []Effect } // empty, or begins with a Keep

// push takes the effects of a step and returns those that need not wait.
func (b *backlog) push(effects []Effect) []Effect {
	var now []Effect
	for _, f := range effects {
		_, keep := f.(Keep)
		if keep || len(b.list) > 0 && !independent(f) {
			b.list = append(b.list, f)
		} else {
			now = append(now, f)
		}
	}
	return now
}

// independent reports whether f says or does nothing that a record could decide.
func independent(f Effect) bool {
	switch f.(type) {
	case SendNotice, Warn, Probe, SetLease:
		return true
	}
	return false
}

// record returns the record that is to be written next, nil if there is none.
func (b *backlog) record() Record {
	if len(b.list) == 0 {
		return nil
	}
	return b.list[0].(Keep).Record
}

// written removes that record and returns what has waited for it alone.
func (b *backlog) written() []Effect {
	n := 1
	for n < len(b.list) {
		if _, keep := b.list[n].(Keep); keep {
			break
		}
		n++
	}
	done := b.list[1:n:n]
	b.list = b.list[n:]
	return done
}

// clear empties the backlog and returns all that is no record.
func (b *backlog) clear() []Effect {
	all := withoutRecords(b.list)
	b.list = nil
	return all
}

func withoutRecords(effects []Effect) []Effect {
	var rest []Effect
	for _, f := range effects {
		if _, keep := f.(Keep); !keep {
			rest = append(rest, f)
		}
	}
	return rest
}
