// Package journal keeps what a rendezvous must still know after a crash.
//
// [Journal] is the interface that a rendezvous writes to, and [File] keeps a journal in a
// file. Package etcd keeps a journal in a cluster, with the same records.
package journal

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// Journal is where a Server keeps what it must still know after a crash, and what
// the next one begins with. A [FileJournal] is one; package etcd has another.
type Journal interface {
	// Records returns what was kept before.
	Records() []state.Record
	// Append keeps r, and returns when a crash can no longer undo that. It may take its
	// time: the Server answers meanwhile, and what depends on r waits. An error ends the
	// job, with its exit code; but one that is ErrSuperseded the Server, and one that is
	// ErrAbandoned nothing.
	Append(r state.Record) error
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

// Marshal returns the bytes of r, which [UnmarshalRecords] reads.
func Marshal(r state.Record) ([]byte, error) {
	body, err := proto.Marshal(wire.EncodeRecord(r))
	if err != nil {
		return nil, err
	}
	if len(body) > maxEntryBytes {
		return nil, fmt.Errorf("entry of %d bytes, want at most %d", len(body), maxEntryBytes)
	}
	return body, nil
}

// Unmarshal returns the records of a whole journal, whose entries are in
// the order in which they were kept. An error says which entry is wrong, from 1.
func Unmarshal(bodies [][]byte) ([]state.Record, error) {
	var records []state.Record
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
func nextRecord(records []state.Record, body []byte) (state.Record, error) {
	e := &pb.JournalEntry{}
	if err := proto.Unmarshal(body, e); err != nil {
		return nil, err
	}
	r, err := wire.DecodeRecord(e)
	if err != nil {
		return nil, err
	}
	return r, state.Follows(records, r)
}
