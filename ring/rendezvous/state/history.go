package state

import (
	"errors"
	"fmt"
	"slices"
)

// A journal grows with each generation and each loss. Most old records are not needed: the state
// depends on the newest generation, on the losses after it, and, for a crash loop, on a few
// generations before it. A compacted journal has these records and a CutRecord in place of the
// others.

// Bounds of a compacted journal and of the records in memory.
const (
	compactGenerations = 16                     // more than any rule looks back, see CrashLoopLimit
	maxRecordsInMemory = 4 * compactGenerations // more records are compacted
)

// Follows returns an error if record r cannot follow records.
func Follows(records []Record, r Record) error {
	if len(records) == 0 {
		if _, ok := r.(JobRecord); !ok {
			return errors.New("does not begin with the job")
		}
		return nil
	}
	job := records[0].(JobRecord)
	last := LastGeneration(records)
	_, next := r.(GenerationRecord)
	switch records[len(records)-1].(type) {
	case EndRecord:
		return errors.New("an entry after the end")
	case CutRecord:
		if !next {
			return errors.New("no generation after those that were left out")
		}
	}
	switch r := r.(type) {
	case CutRecord:
		if len(records) > 1 || r.Generation == 0 {
			return fmt.Errorf("generations up to %d left out behind entry %d, want 1 or more behind the first", r.Generation, len(records))
		}
	case JobRecord:
		return errors.New("a second job")
	case GenerationRecord:
		if r.Generation != last+1 || len(r.Workers) != job.WorldSize {
			return fmt.Errorf("generation %d of %d workers after generation %d, want %d of %d", r.Generation, len(r.Workers), last, last+1, job.WorldSize)
		}
	case LossRecord:
		if r.Generation != last || last == 0 {
			return fmt.Errorf("a loss in generation %d after generation %d", r.Generation, last)
		}
		for _, rank := range r.Lost {
			if rank < 0 || rank >= job.WorldSize {
				return fmt.Errorf("lost rank %d of world size %d", rank, job.WorldSize)
			}
		}
	case EndRecord:
		if last == 0 {
			return errors.New("an end before the first generation")
		}
	}
	return nil
}

// LastGeneration returns the number of the newest generation in records, 0 if there is none.
func LastGeneration(records []Record) uint64 {
	for i := len(records) - 1; i >= 0; i-- {
		switch r := records[i].(type) {
		case GenerationRecord:
			return r.Generation
		case LossRecord:
			return r.Generation
		case CutRecord:
			return r.Generation
		}
	}
	return 0
}

// CompactLong returns records, or, if they are many, fewer records that restore the same state.
func CompactLong(records []Record) []Record {
	if len(records) <= maxRecordsInMemory {
		return records
	}
	return Compact(records)
}

// Compact returns the records that are needed to restore the state after records.
func Compact(records []Record) []Record {
	from, kept := len(records), 0
	for i := len(records) - 1; i > 0 && kept < compactGenerations; i-- {
		if _, ok := records[i].(GenerationRecord); ok {
			from, kept = i, kept+1
		}
	}
	if kept == 0 {
		return records
	}
	few := []Record{records[0]}
	if g := records[from].(GenerationRecord); g.Generation > 1 {
		few = append(few, CutRecord{g.Generation - 1})
	}
	for _, r := range records[from:] {
		loss, ok := r.(LossRecord)
		earlier, again := few[len(few)-1].(LossRecord)
		if ok && again {
			few[len(few)-1] = loss.mergedWith(earlier)
		} else {
			few = append(few, r)
		}
	}
	return few
}

// mergedWith returns one loss in place of two losses of one generation. l is the later one.
func (l LossRecord) mergedWith(earlier LossRecord) LossRecord {
	l.Lost = slices.Concat(earlier.Lost, l.Lost)
	slices.Sort(l.Lost)
	l.Lost = slices.Compact(l.Lost)
	return l
}
