package rendezvous

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"ringtrain/ring/exitcode"
)

// journalMagic begins the file. Its last byte is the version.
const journalMagic = "RTJ\x01"

const (
	entryHeadBytes  = 12
	maxEntryBytes   = MaxReplyBytes
	maxJournalBytes = 256 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FileJournal is the file in which a rendezvous keeps what it must still know after
// a crash: the job, its generations, and its losses. It is written at its end
// only, and each entry is on the disk before anybody hears of what it says.
//
//	 0       4       8       12
//	┌───────┬───────┬───────┬───────────────┐
//	│length │crc of │crc of │ body: a       │   after the four bytes "RTJ\x01"
//	│       │length │ body  │ JournalEntry  │
//	└───────┴───────┴───────┴───────────────┘
//
// All integers are little-endian, both checksums CRC-32C. An entry that was being
// written when the process or the machine died is the last one, and not whole: it
// is cut off. Nobody has heard of what it says. Damage before the last entry is
// an error.
//
// A FileJournal is used by one process at a time, which a lock on the file ensures.
type FileJournal struct {
	f       *os.File
	records []Record
	torn    int64 // bytes that were cut off
	closing sync.Once
}

// OpenJournal opens the journal at path, or begins one. It must be closed. One of
// another job than jobID and worldSize say, where they do, and one that is
// damaged are exitcode.BadData, one in use exitcode.Retry.
func OpenJournal(path, jobID string, worldSize int) (*FileJournal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, exitcode.With(exitcode.CannotCreate, fmt.Errorf("journal: %w", err))
	}
	j := &FileJournal{f: f}
	if err := j.open(path, jobID, worldSize); err != nil {
		f.Close()
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	return j, nil
}

func (j *FileJournal) open(path, jobID string, worldSize int) error {
	if err := syscall.Flock(int(j.f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return exitcode.With(exitcode.Retry, errors.New("in use by another rendezvous; stop it or give another file"))
	}
	data, err := io.ReadAll(io.LimitReader(j.f, maxJournalBytes+1))
	if err != nil {
		return exitcode.With(exitcode.IO, err)
	}
	if len(data) > maxJournalBytes {
		return exitcode.With(exitcode.BadData, fmt.Errorf("longer than %d bytes: not a journal", maxJournalBytes))
	}
	records, whole, err := readJournal(data)
	if err != nil {
		return exitcode.With(exitcode.BadData, err)
	}
	if err := sameJob(records, jobID, worldSize); err != nil {
		return exitcode.With(exitcode.BadData, err)
	}
	j.records, j.torn = records, int64(len(data)-whole)
	return exitcode.With(exitcode.IO, j.prepare(path, int64(whole)))
}

// prepare makes the file end at an entry's end, or begin.
func (j *FileJournal) prepare(path string, whole int64) error {
	if err := j.f.Truncate(whole); err != nil {
		return err
	}
	if _, err := j.f.Seek(whole, io.SeekStart); err != nil {
		return err
	}
	if whole == 0 {
		if _, err := j.f.WriteString(journalMagic); err != nil {
			return err
		}
	}
	return errors.Join(j.f.Sync(), syncFolder(filepath.Dir(path)))
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// sameJob tells what is wrong if the records are another job's.
func sameJob(records []Record, jobID string, worldSize int) error {
	if len(records) == 0 {
		return nil
	}
	job := records[0].(JobRecord) // readJournal sees to it
	if jobID != "" && job.JobID != name(jobID) {
		return fmt.Errorf("it is of job %s, want %s, or another file", job.JobID, jobID)
	}
	if worldSize != 0 && job.WorldSize != worldSize {
		return fmt.Errorf("it is of a job with world size %d, want %d, or another file", job.WorldSize, worldSize)
	}
	return nil
}

// Records returns what was kept before the journal was opened.
func (j *FileJournal) Records() []Record { return j.records }

// Last returns the job of the records and the newest generation, 0 if there was
// none.
func (j *FileJournal) Last() (jobID string, generation uint64) {
	if len(j.records) == 0 {
		return "", 0
	}
	return j.records[0].(JobRecord).JobID, lastGeneration(j.records)
}

// Torn returns how many bytes of an unfinished entry were cut off.
func (j *FileJournal) Torn() int64 { return j.torn }

// Append writes r and waits until it is on the disk. After an error the journal
// is of no further use.
func (j *FileJournal) Append(r Record) error {
	b, err := appendEntry(nil, r)
	if err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("journal: %w", err))
	}
	if _, err := j.f.Write(b); err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("journal: %w", err))
	}
	if err := j.f.Sync(); err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("journal: %w", err))
	}
	return nil
}

// Close closes the file. It may be called more than once.
func (j *FileJournal) Close() error {
	var err error
	j.closing.Do(func() { err = j.f.Close() })
	return err
}

// appendEntry appends the entry of r to dst.
func appendEntry(dst []byte, r Record) ([]byte, error) {
	body, err := MarshalRecord(r)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	at := len(dst)
	dst = le.AppendUint32(dst, uint32(len(body)))
	dst = le.AppendUint32(dst, crc32.Checksum(dst[at:at+4], castagnoli))
	dst = le.AppendUint32(dst, crc32.Checksum(body, castagnoli))
	return append(dst, body...), nil
}

// readJournal returns the records of a file's bytes, and how many bytes are whole
// entries: what follows them is one that was never finished.
func readJournal(data []byte) (records []Record, whole int, err error) {
	if len(data) < len(journalMagic) && journalMagic[:len(data)] == string(data) {
		return nil, 0, nil
	}
	if len(data) < len(journalMagic) || string(data[:len(journalMagic)]) != journalMagic {
		return nil, 0, fmt.Errorf("begins with %q, want %q: not a journal of this version", data[:min(len(data), len(journalMagic))], journalMagic)
	}
	for at := len(journalMagic); ; {
		body, state := nextEntry(data[at:])
		switch state {
		case entryTorn:
			return records, at, nil
		case entryDamaged:
			return nil, 0, fmt.Errorf("damaged at byte %d: a checksum is wrong", at)
		}
		r, err := nextRecord(records, body)
		if err != nil {
			return nil, 0, fmt.Errorf("damaged at byte %d: %w", at, err)
		}
		records = append(records, r)
		at += entryHeadBytes + len(body)
	}
}

type entryState int

const (
	entryWhole entryState = iota
	entryTorn             // not finished, or the end of the file
	entryDamaged
)

// nextEntry returns the body of the entry that data begins with.
func nextEntry(data []byte) ([]byte, entryState) {
	if len(data) < entryHeadBytes {
		return nil, entryTorn
	}
	le := binary.LittleEndian
	n := int(le.Uint32(data))
	if le.Uint32(data[4:]) != crc32.Checksum(data[:4], castagnoli) || n > maxEntryBytes {
		if onlyZeros(data) { // the file had grown, its bytes had not come
			return nil, entryTorn
		}
		return nil, entryDamaged
	}
	rest := data[entryHeadBytes:]
	if len(rest) < n {
		return nil, entryTorn
	}
	body := rest[:n]
	switch {
	case le.Uint32(data[8:]) == crc32.Checksum(body, castagnoli):
		return body, entryWhole
	case len(rest) == n:
		return nil, entryTorn
	}
	return nil, entryDamaged
}

func onlyZeros(data []byte) bool {
	for _, b := range data {
		if b != 0 {
			return false
		}
	}
	return true
}
