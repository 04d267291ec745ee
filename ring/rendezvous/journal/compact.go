package journal

import (
	"os"

	"ringtrain/ring/rendezvous/state"
)

// compactIfLong compacts the file if it is too long for more bytes. If this fails, the file stays
// as it is, and may grow to twice the size before the next attempt. After an error it is not known
// which of the two files a crash leaves.
func (j *File) compactIfLong(more int64) error {
	if j.size+more <= j.limit {
		return nil
	}
	records := state.Compact(j.records)
	f, size, err := j.replace(records)
	if err != nil {
		j.limit = 2 * j.size
		return nil
	}
	j.f.Close()
	j.f, j.size, j.records = f, size, records
	j.limit = max(j.limit, 2*size)
	return j.syncFolder()
}

// replace replaces the journal by a file with these records and returns the new file. The new file
// is locked before another process can open it.
func (j *File) replace(records []state.Record) (f *os.File, size int64, err error) {
	data := []byte(magic)
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
