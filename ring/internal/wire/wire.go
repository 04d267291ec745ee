// Package wire has helpers for messages that come from untrusted peers.
package wire

import "io"

// NoEOF turns io.EOF into io.ErrUnexpectedEOF, for a read inside a message: no stream may end
// there.
func NoEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
