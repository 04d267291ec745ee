package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"ringtrain/ring/rendezvous/state"
)

// sectorBytes is the most that a disk writes as a whole, or not at all.
const sectorBytes = 512

// An entry that was never finished is the last one. Of what it takes on the disk some
// sectors were written, and the others are zeros. So it is one of these:
//
//	┌──────────┬─────        the file ends in it
//	┌──────────┬─────────┐   its body, at the end of the file, has another checksum
//	┌──00000000│ …           its head lies in two sectors, or in one, of which one was not
//	                         written; no whole entry follows
//	000000000000000000000    nothing of it was written
//
// Anything else that is wrong is damage.

// errTorn is an entry that was never finished, or the end of the file.
var errTorn = errors.New("entry was never finished")

// A journalReader reads entries one after the other, so a long file takes no memory.
type reader struct {
	r    *bufio.Reader
	at   int64 // where the next entry begins
	body []byte
}

// readJournal returns the records of a file, compacted if there are many, and how many of
// its bytes are whole entries: what follows them was never finished.
func readJournal(r io.Reader) (records []state.Record, whole int64, err error) {
	j := &reader{r: bufio.NewReaderSize(r, 64<<10)}
	if begun, err := j.readMagic(); err != nil || !begun {
		return nil, 0, err
	}
	for {
		body, err := j.next()
		if errors.Is(err, errTorn) {
			return records, j.at, nil
		}
		if err != nil {
			return nil, 0, err
		}
		r, err := nextRecord(records, body)
		if err != nil {
			return nil, 0, fmt.Errorf("damaged at byte %d: %w", j.at, err)
		}
		records = state.CompactLong(append(records, r))
		j.at += int64(entryHeaderBytes + len(body))
	}
}

// magic reads the first bytes. It returns false where nothing of a journal was written.
func (j *reader) readMagic() (bool, error) {
	head := make([]byte, len(magic))
	n, err := io.ReadFull(j.r, head)
	if err != nil && !atEnd(err) {
		return false, err
	}
	head = head[:n]
	j.at = int64(n)
	switch {
	case string(head) == magic:
		return true, nil
	case string(head) == abandonedMagic:
		return false, errMarkedAbandoned
	case n < len(magic) && string(head) == magic[:n]:
		return false, nil
	}
	if zeros, err := j.restIsZero(head); zeros || err != nil {
		return false, err
	}
	return false, fmt.Errorf("begins with %q, want %q: not a journal of this version", head, magic)
}

// next returns the body of the next entry, valid until the next call, or errTorn.
func (j *reader) next() ([]byte, error) {
	var head [entryHeaderBytes]byte
	if _, err := io.ReadFull(j.r, head[:]); err != nil {
		return nil, tornError(err)
	}
	le := binary.LittleEndian
	n := int(le.Uint32(head[:]))
	if le.Uint32(head[4:]) != crc32.Checksum(head[:4], castagnoli) || n > maxEntryBytes {
		return nil, j.classifyHeader(head[:])
	}
	if n > cap(j.body) {
		j.body = make([]byte, n)
	}
	j.body = j.body[:n]
	if _, err := io.ReadFull(j.r, j.body); err != nil {
		return nil, tornError(err)
	}
	if le.Uint32(head[8:]) == crc32.Checksum(j.body, castagnoli) {
		return j.body, nil
	}
	if _, err := j.r.Peek(1); err != nil {
		return nil, tornError(err)
	}
	return nil, j.damaged()
}

// badHead tells a head that was never written from one that is damaged.
func (j *reader) classifyHeader(head []byte) error {
	tail, err := io.ReadAll(io.LimitReader(j.r, maxEntryBytes))
	if err != nil {
		return err
	}
	tail = append(head[:len(head):len(head)], tail...)
	zeros, err := j.restIsZero(tail)
	switch {
	case err != nil:
		return err
	case zeros:
		return errTorn
	}
	_, err = j.r.Peek(1)
	switch {
	case err == nil: // more than one entry takes
		return j.damaged()
	case !atEnd(err):
		return err
	case sectorUnwritten(head, j.at) && !holdsEntry(tail[1:]):
		return errTorn
	}
	return j.damaged()
}

// unwritten reports whether what one sector has of the head at a place of the file is
// nothing but zeros.
func sectorUnwritten(head []byte, at int64) bool {
	first := min(int(sectorBytes-at%sectorBytes), len(head))
	return allZero(head[:first]) || first < len(head) && allZero(head[first:])
}

// holdsEntry reports whether a whole entry begins anywhere in data.
func holdsEntry(data []byte) bool {
	le := binary.LittleEndian
	for ; len(data) >= entryHeaderBytes; data = data[1:] {
		n := int(le.Uint32(data))
		rest := data[entryHeaderBytes:]
		if n <= len(rest) && le.Uint32(data[4:]) == crc32.Checksum(data[:4], castagnoli) &&
			le.Uint32(data[8:]) == crc32.Checksum(rest[:n], castagnoli) {
			return true
		}
	}
	return false
}

// onlyZeros reports whether data and all that follows in the file are zeros.
func (j *reader) restIsZero(data []byte) (bool, error) {
	for allZero(data) {
		if _, err := j.r.Peek(1); atEnd(err) {
			return true, nil
		} else if err != nil {
			return false, err
		}
		data, _ = j.r.Peek(j.r.Buffered())
		j.r.Discard(len(data)) // its bytes stay until the next read
	}
	return false, nil
}

func allZero(data []byte) bool { return len(bytes.TrimLeft(data, "\x00")) == 0 }

func (j *reader) damaged() error {
	return fmt.Errorf("damaged at byte %d: a checksum is wrong", j.at)
}

func atEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// torn is the error of an entry that the file ends in.
func tornError(err error) error {
	if atEnd(err) {
		return errTorn
	}
	return err
}
