package rendezvous

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "ringtrain/ring/ringpb"
)

// Journal is where a Server keeps what it must still know after a crash, and what
// the next one begins with. A [FileJournal] is one; package etcd has another.
type Journal interface {
	// Records returns what was kept before.
	Records() []Record
	// Append keeps r, and returns when a crash can no longer undo that. It may take its
	// time: the Server answers meanwhile, and what depends on r waits. An error ends the
	// job, with its exit code; but one that is ErrSuperseded the Server, and one that is
	// ErrAbandoned nothing.
	Append(r Record) error
	// Close releases the journal. It may be called more than once.
	Close() error
}

// ErrSuperseded is returned by the Append of a journal that another rendezvous
// writes by now, or may. The Server ends its streams without a word; the workers
// find out where the rendezvous is.
var ErrSuperseded = errors.New("the journal is another rendezvous' by now")

// ErrAbandoned is returned by the Append of a journal that cannot be written and from
// which no rendezvous can go on any more. The job goes on without it, and people are told.
var ErrAbandoned = errors.New("the journal is abandoned")

// MarshalRecord returns the bytes of r, which [UnmarshalRecords] reads.
func MarshalRecord(r Record) ([]byte, error) {
	body, err := proto.Marshal(recordToWire(r))
	if err != nil {
		return nil, err
	}
	if len(body) > maxEntryBytes {
		return nil, fmt.Errorf("entry of %d bytes, want at most %d", len(body), maxEntryBytes)
	}
	return body, nil
}

// UnmarshalRecords returns the records of a whole journal, whose entries are in
// the order in which they were kept. An error says which entry is wrong, from 1.
func UnmarshalRecords(bodies [][]byte) ([]Record, error) {
	var records []Record
	for i, body := range bodies {
		r, err := nextRecord(records, body)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		records = append(records, r)
	}
	return records, nil
}

// nextRecord reads the record after those that are there.
func nextRecord(records []Record, body []byte) (Record, error) {
	e := &pb.JournalEntry{}
	if err := proto.Unmarshal(body, e); err != nil {
		return nil, err
	}
	r, err := recordFromWire(e)
	if err != nil {
		return nil, err
	}
	return r, follows(records, r)
}
