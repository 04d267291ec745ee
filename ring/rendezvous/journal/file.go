package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
	"ringtrain/ring/rendezvous/internal/sanitize"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
)

// magic begins the file. Its last byte is the version.
const magic = "RTJ\x01"

const (
	entryHeaderBytes = 12
	maxEntryBytes    = wire.MaxReplyBytes
	maxJournalBytes  = 256 << 20 // a longer file is compacted
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// File is a journal in a file: the job, its generations and its losses. A rendezvous only appends
// to it, and each entry is on the disk before any worker hears of it. A long journal is compacted:
// another file takes its place.
//
//	 0       4       8       12
//	┌───────┬───────┬───────┬───────────────┐
//	│length │crc of │crc of │ body: a       │   after the four bytes "RTJ\x01"
//	│       │length │ body  │ JournalEntry  │
//	└───────┴───────┴───────┴───────────────┘
//
// All integers are little-endian, both checksums CRC-32C. An entry that was being written when the
// process or the machine died is the last one and incomplete. Open cuts it off: no worker has heard
// of it. Damage before the last entry is an error.
//
// A file that cannot be written any more is marked or removed, because the job goes on without it.
//
// One process at a time uses a File; a lock ensures this.
type File struct {
	path    string
	f       *os.File
	size    int64
	limit   int64 // a larger file is compacted
	records []state.Record
	torn    int64 // bytes of an incomplete entry that Open cut off
	closing sync.Once
}

// Open opens the journal at path, or creates it. The caller must close it. An error is
// exitcode.BadData if the journal is damaged or belongs to another job than jobID and worldSize
// say. It is exitcode.Retry if another process uses the journal. An empty jobID or a worldSize of 0
// matches any job.
func Open(path, jobID string, worldSize int) (*File, error) {
	path, err := folder.File(path) // a compacted journal replaces the file, and no link
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := openLocked(path)
	if err != nil {
		return nil, err
	}
	j := &File{path: path, f: f, limit: maxJournalBytes}
	if err := j.open(jobID, worldSize); err != nil {
		j.Close()
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	return j, nil
}

// openLocked opens and locks the file. It opens the path again if another process has compacted the
// journal meanwhile.
func openLocked(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, exitcode.With(exitcode.CannotCreate, fmt.Errorf("journal: %w", err))
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, fmt.Errorf("journal %s: %w", path, err)
		}
		opened, err := f.Stat()
		current, err2 := os.Stat(path)
		if err := errors.Join(err, err2); err == nil && os.SameFile(opened, current) {
			return f, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.Close()
			return nil, exitcode.With(exitcode.IO, fmt.Errorf("journal: %w", err))
		}
		f.Close()
	}
}

func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return exitcode.With(exitcode.Retry, errors.New("in use by another rendezvous; stop it or give another file"))
	}
	return nil
}

func (j *File) open(jobID string, worldSize int) error {
	records, whole, err := readJournal(j.f)
	if err != nil {
		return exitcode.With(exitcode.BadData, err)
	}
	if err := sameJob(records, jobID, worldSize); err != nil {
		return exitcode.With(exitcode.BadData, err)
	}
	info, err := j.f.Stat()
	if err != nil {
		return exitcode.With(exitcode.IO, err)
	}
	j.records, j.size, j.torn = records, max(whole, int64(len(magic))), info.Size()-whole
	if err := j.truncateToWhole(whole); err != nil {
		return exitcode.With(exitcode.IO, err)
	}
	return exitcode.With(exitcode.IO, j.compactIfLong(0))
}

// truncateToWhole cuts the file off after whole bytes, or begins it.
func (j *File) truncateToWhole(whole int64) error {
	if err := j.f.Truncate(whole); err != nil {
		return err
	}
	if _, err := j.f.Seek(whole, io.SeekStart); err != nil {
		return err
	}
	if whole == 0 {
		if _, err := j.f.WriteString(magic); err != nil {
			return err
		}
	}
	return errors.Join(j.f.Sync(), j.syncFolder())
}

// syncFolder syncs the folder of the journal, if the file system can.
func (j *File) syncFolder() error {
	if err := folder.Sync(filepath.Dir(j.path)); !folder.CannotSync(err) {
		return err
	}
	return nil
}

// sameJob returns an error if the records belong to another job.
func sameJob(records []state.Record, jobID string, worldSize int) error {
	if len(records) == 0 {
		return nil
	}
	job := records[0].(state.JobRecord) // readJournal ensures this
	if jobID != "" && job.JobID != sanitize.Name(jobID) {
		return fmt.Errorf("it is of job %s, want %s, or another file", job.JobID, jobID)
	}
	if worldSize != 0 && job.WorldSize != worldSize {
		return fmt.Errorf("it is of a job with world size %d, want %d, or another file", job.WorldSize, worldSize)
	}
	return nil
}

// Records returns the records of the file. A compacted journal has fewer than were written.
func (j *File) Records() []state.Record { return j.records }

// Last returns the job of the records and the newest generation, 0 if there is none.
func (j *File) Last() (jobID string, generation uint64) {
	if len(j.records) == 0 {
		return "", 0
	}
	return j.records[0].(state.JobRecord).JobID, state.LastGeneration(j.records)
}

// Torn returns how many bytes of an incomplete entry Open cut off.
func (j *File) Torn() int64 { return j.torn }

// Append writes r and waits until r is on the disk. After an error, which is ErrAbandoned if r
// could not be written, the journal is of no use.
func (j *File) Append(r state.Record) error {
	b, err := appendEntry(nil, r)
	if err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("journal: %w", err))
	}
	if err := j.compactIfLong(int64(len(b))); err != nil {
		return j.abandon(err)
	}
	if _, err := j.f.Write(b); err != nil {
		return j.abandon(err)
	}
	if err := j.f.Sync(); err != nil {
		return j.abandon(err)
	}
	j.size += int64(len(b))
	j.records = state.CompactLong(append(j.records, r))
	return nil
}

// Close closes the file. It may be called more than once.
func (j *File) Close() error {
	var err error
	j.closing.Do(func() { err = j.f.Close() })
	return err
}

// appendEntry appends the entry of r to dst.
func appendEntry(dst []byte, r state.Record) ([]byte, error) {
	body, err := Marshal(r)
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
