package idx

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"ringtrain/input"
)

// read holds the contents of an IDX file: its header, and its payload, which
// has exactly the length that the header says.
func read(name string, check func(header) error) (h header, payload *input.Memory, manifest string, err error) {
	f, err := input.OpenFile(name)
	if err != nil {
		return h, nil, "", err
	}
	defer f.Close()
	if h, err = readHeader(f); err != nil {
		return h, nil, "", err
	}
	if err = check(h); err != nil {
		return h, nil, "", err
	}
	want, ok := h.payload(h.dims)
	if !ok {
		return h, nil, "", flaw(name, "shape %s is too large", h.shape())
	}
	payload = new(input.Memory)
	_, err = payload.ReadFrom(io.LimitReader(f, want))
	have := payload.Size()
	if err == nil && have == want {
		var rest int64
		rest, err = io.Copy(io.Discard, f) // reads the checksum of gzip, too
		have += rest
	}
	if err != nil && (have >= want || !errors.Is(err, io.ErrUnexpectedEOF)) {
		return h, nil, "", input.ReadError(name, err)
	}
	if have != want {
		return h, nil, "", flaw(name, "%d payload bytes, want %d (%s of %v)", have, want, h.shape(), h.kind)
	}
	return h, payload, fmt.Sprintf("%s %d %d", filepath.Base(name), f.Bytes, h.dims[0]), nil
}
