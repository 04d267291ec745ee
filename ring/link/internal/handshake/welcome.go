package handshake

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"ringtrain/ring/phrase"
)

// welcome is the acceptor's answer.
type welcome struct {
	status uint16 // 0, or the exit code of a refusal
	nonce  [NonceBytes]byte
	proof  [ProofBytes]byte
	reason string // of a refusal, for people
}

// bytes returns the encoded message. A reason that is too long is cut.
func (w *welcome) bytes() []byte {
	le := binary.LittleEndian
	reason := w.reason[:min(len(w.reason), MaxReasonBytes)]
	b := append(make([]byte, 0, MaxMessageBytes), welcomeMagic[:]...)
	b = le.AppendUint16(b, uint16(welcomeFixedBytes+len(reason)+crcBytes))
	b = le.AppendUint16(b, w.status)
	b = append(b, w.nonce[:]...)
	b = append(b, w.proof[:]...)
	b = le.AppendUint16(b, uint16(len(reason)))
	b = append(b, reason...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// parseWelcome parses a whole message and makes the reason printable.
func parseWelcome(b []byte) (welcome, error) {
	var w welcome
	body, err := open(b, welcomeMagic, welcomeFixedBytes)
	if err != nil {
		return w, err
	}
	le := binary.LittleEndian
	w.status = le.Uint16(body)
	w.nonce = [NonceBytes]byte(body[2:])
	w.proof = [ProofBytes]byte(body[2+NonceBytes:])
	reason, err := text(body[welcomeFixedBytes-2:], MaxReasonBytes)
	if err != nil {
		return w, err
	}
	if w.status == 0 && reason != "" {
		return w, fmt.Errorf("%w: status is 0 with a reason", errMalformed)
	}
	w.reason = phrase.Foreign(reason, MaxReasonBytes)
	return w, nil
}
