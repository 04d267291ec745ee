package input

import (
	"encoding/binary"
	"fmt"
)

// HeldOut is the form in which a cache keeps the parts that cells say: a bit a record, whole words, the lowest bit first.
type HeldOut struct {
	Validation []byte `json:"validation,omitempty"`
	Test       []byte `json:"test,omitempty"`
	Without    int64  `json:"without,omitempty"` // records without a cell
}

// HeldOut returns what a cache keeps of the parts, nil if the numbers of the records say them.
func (p *Parts) HeldOut() *HeldOut {
	if p == nil || p.cells == nil {
		return nil
	}
	h := &HeldOut{Without: p.Without()}
	for in, to := range h.parts() {
		for _, word := range p.held[in] {
			*to = binary.LittleEndian.AppendUint64(*to, word)
		}
	}
	return h
}

// parts are the parts that are held out.
func (h *HeldOut) parts() map[Part]*[]byte {
	return map[Part]*[]byte{Validation: &h.Validation, Test: &h.Test}
}

// Parts returns the parts of so many records.
func (h *HeldOut) Parts(records int) (*Parts, error) {
	p := &Parts{records: records}
	p.without.Store(h.Without)
	words := (records + wordBits - 1) / wordBits
	for in, from := range h.parts() {
		switch b := *from; {
		case len(b) == 0:
		case len(b) != words*8:
			return nil, fmt.Errorf("its held-out records have %d bytes, want %d of %d records", len(b), words*8, records)
		default:
			for ; len(b) > 0; b = b[8:] {
				p.held[in] = append(p.held[in], binary.LittleEndian.Uint64(b))
			}
		}
	}
	return p, nil
}
