package rendezvous

import (
	"os"
	"path/filepath"
	"slices"
)

// A journal grows with each generation and each loss. Of old ones nothing is needed: the
// state after the records depends on the newest generation, on the losses after it, and,
// for what ends one generation after the other, on a few before it. A compacted journal
// has these, and a CutRecord in place of the others.

// Bounds of what is kept in a compacted journal and in memory.
const (
	keptGenerations = 16                  // more than any rule looks back, see mostBarren
	mostRecords     = 4 * keptGenerations // in memory, before they are compacted
)

// compacted returns records, or fewer from which the same state is restored if there are
// many.
func compacted(records []Record) []Record {
	if len(records) <= mostRecords {
		return records
	}
	return compact(records)
}

// compact returns the records that are needed to restore the state after records.
func compact(records []Record) []Record {
	from, kept := len(records), 0
	for i := len(records) - 1; i > 0 && kept < keptGenerations; i-- {
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
			few[len(few)-1] = loss.with(earlier)
		} else {
			few = append(few, r)
		}
	}
	return few
}

// with is one loss in place of two of the same generation, of which l is the later one.
func (l LossRecord) with(earlier LossRecord) LossRecord {
	l.Lost = slices.Concat(earlier.Lost, l.Lost)
	slices.Sort(l.Lost)
	l.Lost = slices.Compact(l.Lost)
	return l
}

// compactLong compacts the file if it is too long for more bytes. If that does not work
// the file is gone on with as it is, and may grow to twice the size before the next try.
// An error means that it is not known which of the two files a crash leaves.
func (j *FileJournal) compactLong(more int64) error {
	if j.size+more <= j.limit {
		return nil
	}
	records := compact(j.records)
	f, size, err := j.replace(records)
	if err != nil {
		j.limit = 2 * j.size
		return nil
	}
	j.f.Close()
	j.f, j.size, j.records = f, size, records
	j.limit = max(j.limit, 2*size)
	return syncFolder(filepath.Dir(j.path))
}

// replace puts a file with these records in place of the journal, and returns it. It is
// locked before anybody else finds it there.
func (j *FileJournal) replace(records []Record) (f *os.File, size int64, err error) {
	data := []byte(journalMagic)
	for _, r := range records {
		if data, err = appendEntry(data, r); err != nil {
			return nil, 0, err
		}
	}
	path := j.path + ".new"
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return nil, 0, err
	}
	if err = lock(f); err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(path, j.path)
	}
	if err != nil {
		f.Close()
		os.Remove(path)
	}
	return f, int64(len(data)), err
}
