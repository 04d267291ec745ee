package codec

// layout is the part of a codec that differs: how elements are placed in a payload. The
// argument lo is the index of the first element, a multiple of tile.
type layout interface {
	Format

	// check returns an error if no encoder writes payload for n elements.
	check(n int, payload []byte) error

	// put encodes src as the elements from lo on.
	put(payload []byte, lo int, src []float32)

	// get decodes the elements from lo on.
	get(dst []float32, payload []byte, lo int)

	// add adds the elements from lo on.
	add(dst []float32, payload []byte, lo int)
}

// scaler is a layout with one scale for all elements of a payload, which depends on all of
// them.
type scaler interface {
	// scale writes the scale for elements of largest magnitude m, as vec.AbsMax
	// returns it. It is called before put.
	scale(payload []byte, m float32)
}

// dense is the codec of a layout for all elements of a buffer.
type dense struct{ layout }

func (d dense) Append(dst []byte, src []float32) []byte {
	return d.encode(dst, terms{x: src}, false)
}

func (d dense) AppendKeep(dst []byte, x, residual []float32) []byte {
	return d.encode(dst, terms{x: x, residual: residual}, true)
}

func (d dense) AppendHop(dst []byte, x []float32, payload []byte, residual []float32, keep bool) ([]byte, error) {
	if err := d.check(len(x), payload); err != nil {
		return dst, err
	}
	return d.encode(dst, terms{x, residual, payload}, keep || residual != nil), nil
}

func (d dense) Decode(dst []float32, payload []byte) error {
	if err := d.check(len(dst), payload); err != nil {
		return err
	}
	d.get(dst, payload, 0)
	return nil
}

func (d dense) DecodeAdd(dst []float32, payload []byte) error {
	if err := d.check(len(dst), payload); err != nil {
		return err
	}
	d.add(dst, payload, 0)
	return nil
}
