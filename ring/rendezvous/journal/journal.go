// Package journal keeps what a rendezvous needs after a crash.
//
// A rendezvous writes to a [Journal], and a [File] is a journal on a disk. Package etcd keeps a
// journal in a cluster, with the same records.
package journal

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// Journal stores the records of a rendezvous. A restarted rendezvous begins with them.
type Journal interface {
	// Records returns the records that were stored before.
	Records() []state.Record
	// Append stores r. It returns when a crash cannot undo this, which may take long: the Server
	// goes on meanwhile, and what depends on r waits. An error ends the job, with its exit code,
	// apart from two: ErrSuperseded ends the Server, and ErrAbandoned ends neither.
	Append(r state.Record) error
	// Close releases the journal. It may be called more than once.
	Close() error
}

// ErrSuperseded is returned by Append if another rendezvous writes the journal, or may. The Server
// ends its streams without a message, and the workers look for the other rendezvous.
var ErrSuperseded = errors.New("another rendezvous writes the journal")

// ErrAbandoned is returned by Append if the journal cannot be written and no rendezvous can
// continue from it. The job goes on without it, and people are notified.
var ErrAbandoned = errors.New("the journal is abandoned")

// Marshal returns the bytes of r, which [Unmarshal] reads.
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

// Unmarshal returns the records of a journal from its entries, in the order of writing. An error
// names the entry, from 1.
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

// nextRecord decodes the record that follows records.
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
