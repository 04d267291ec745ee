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

// sectorBytes is the size that a disk writes completely or not at all.
const sectorBytes = 512

// An entry that was never finished is the last one. Some of its sectors on the disk were written,
// and the others are zero. So the file ends in one of these ways:
//
//	┌──────────┬─────        the file ends within the entry
//	┌──────────┬─────────┐   the file ends with the entry, and the checksum of the body is wrong
//	┌──00000000│ …           the header lies in two sectors, or in one, of which one was not
//	                         written; no whole entry follows
//	000000000000000000000    nothing of the entry was written
//
// All other errors are damage.

// errTorn reports an entry that was never finished, or the end of the file.
var errTorn = errors.New("entry was never finished")

// reader reads the entries of a journal one after the other, in bounded memory.
type reader struct {
	r    *bufio.Reader
	at   int64 // start of the next entry
	body []byte
}

// readJournal returns the records of a file, compacted if they are many. whole is the number of
// bytes of whole entries; the rest was never finished.
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

// readMagic reads the first bytes. It returns false if nothing of a journal was written.
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

// classifyHeader returns errTorn for a header that was never written, another error for a damaged
// one.
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
	case err == nil: // more than the size of one entry
		return j.damaged()
	case !atEnd(err):
		return err
	case sectorUnwritten(head, j.at) && !holdsEntry(tail[1:]):
		return errTorn
	}
	return j.damaged()
}

// sectorUnwritten reports whether the part of the header in one sector is zero. at is the offset of
// the header.
func sectorUnwritten(head []byte, at int64) bool {
	first := min(int(sectorBytes-at%sectorBytes), len(head))
	return allZero(head[:first]) || first < len(head) && allZero(head[first:])
}

// holdsEntry reports whether data contains a whole entry at any offset.
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

// restIsZero reports whether data and the rest of the file are zero.
func (j *reader) restIsZero(data []byte) (bool, error) {
	for allZero(data) {
		if _, err := j.r.Peek(1); atEnd(err) {
			return true, nil
		} else if err != nil {
			return false, err
		}
		data, _ = j.r.Peek(j.r.Buffered())
		j.r.Discard(len(data)) // the bytes stay valid until the next read
	}
	return false, nil
}

func allZero(data []byte) bool { return len(bytes.TrimLeft(data, "\x00")) == 0 }

func (j *reader) damaged() error {
	return fmt.Errorf("damaged at byte %d: a checksum is wrong", j.at)
}

func atEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// tornError converts the error of an incomplete read to errTorn.
func tornError(err error) error {
	if atEnd(err) {
		return errTorn
	}
	return err
}
