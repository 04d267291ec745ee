package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"ringtrain/input/column"
)

// cursor reads the records of a chunk in their order.
type cursor struct {
	pages
	form       column.Form
	row        int64 // records read
	left       int   // values of the page that are left, missing ones too
	values     []byte
	places     hybrid  // in dictionary
	dictionary *vector // of places; nil: the page has values
	dict       vector  // of the chunk
	hasDict    bool

	definitions, repeats hybrid
	levels, repeated     []int32 // of a list: those read ahead
	items                []int32 // levels of the values of lists that are read
	scratch              [1024]int32
	dropped              vector // of skip
}

var errEnds = errors.New("ends before its records do")

// read appends n records to dst.
func (c *cursor) read(dst *vector, n int) error {
	c.row += int64(n)
	if c.column.List {
		return c.readLists(dst, n)
	}
	for n > 0 {
		if err := c.more(); err != nil {
			return err
		}
		k, err := c.readSome(dst, min(n, c.left, len(c.scratch)))
		if err != nil {
			return err
		}
		n, c.left = n-k, c.left-k
	}
	return nil
}

// skip passes over n records.
func (c *cursor) skip(n int64) error {
	c.dropped = newVector(c.form, c.column.List)
	for n > 0 {
		k := min(n, int64(len(c.scratch)))
		c.dropped.reset()
		if err := c.read(&c.dropped, int(k)); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// readSome appends the next records of a page that is no list, at most n, and returns how many.
func (c *cursor) readSome(dst *vector, n int) (int, error) {
	there := int32(c.column.definition)
	if there == 0 {
		if dst.ragged {
			c.startEach(dst, n)
		}
		return n, c.append(dst, n)
	}
	level, k, err := c.definitions.same(n)
	switch {
	case err != nil:
		return 0, err
	case k > 0 && level == there:
		if dst.ragged {
			c.startEach(dst, k)
		}
		return k, c.append(dst, k)
	case k > 0:
		if dst.ragged {
			dst.start(k, dst.len())
		} else {
			dst.missing(k)
		}
		return k, nil
	}
	levels := c.scratch[:min(n, c.definitions.left)]
	if err := c.definitions.read(levels); err != nil {
		return 0, err
	}
	c.levels = append(c.levels[:0], levels...) // append uses scratch
	present := 0
	for _, level := range c.levels {
		if dst.ragged {
			dst.start(1, dst.len()+present)
		}
		if level == there {
			present++
		}
	}
	if err := c.append(dst, present); err != nil {
		return 0, err
	}
	if !dst.ragged {
		dst.spread(c.levels, there, present)
	}
	return len(c.levels), nil
}

// startEach begins n records that have a value each.
func (c *cursor) startEach(dst *vector, n int) {
	for i := range n {
		dst.start(1, dst.len()+i)
	}
}

// readLists appends n records of lists. A list ends where the next one begins, which may be in another page.
func (c *cursor) readLists(dst *vector, n int) error {
	c.items = c.items[:0]
	for {
		for i, repeat := range c.repeated {
			if repeat == 0 && n == 0 {
				c.levels, c.repeated = c.levels[i:], c.repeated[i:]
				return c.appendItems(dst)
			}
			if repeat == 0 {
				dst.start(1, dst.len()+len(c.items))
				n--
			} else if len(dst.starts) == 0 {
				return errors.New("begins amid a list")
			}
			if c.isItem(c.levels[i]) {
				c.items = append(c.items, c.levels[i])
			}
		}
		c.levels, c.repeated = c.levels[:0], c.repeated[:0]
		if err := c.appendItems(dst); err != nil {
			return err
		}
		if err := c.limits.Decoded(dst.bytes(), c.end); err != nil { // a few bytes may say that a list is long
			return err
		}
		if err := c.more(); err == errEnds && n == 0 {
			return nil
		} else if err != nil {
			return err
		}
		k := min(c.left, len(c.scratch))
		c.levels, c.repeated = slices.Grow(c.levels[:0], k)[:k], slices.Grow(c.repeated[:0], k)[:k]
		if err := errors.Join(c.definitions.read(c.levels), c.repeats.read(c.repeated)); err != nil {
			return err
		}
		c.left -= k
	}
}

// isItem reports whether a level is that of a value of a list: one that is there, or the gap that a missing number leaves,
// so that the numbers behind it keep their places. A missing text or id leaves none.
func (c *cursor) isItem(level int32) bool {
	there := int32(c.column.definition)
	gaps := c.column.repetition == optional && (c.form == column.AsValues || c.form == column.AsNumber || c.form == column.AsDouble)
	return level == there || gaps && level == there-1
}

// appendItems appends the values of items, which is empty then.
func (c *cursor) appendItems(dst *vector) error {
	there, present := int32(c.column.definition), 0
	for _, level := range c.items {
		if level == there {
			present++
		}
	}
	if err := c.append(dst, present); err != nil {
		return err
	}
	if present < len(c.items) {
		dst.spread(c.items, there, present)
	}
	c.items = c.items[:0]
	return nil
}

// append appends n values that are there to dst.
func (c *cursor) append(dst *vector, n int) (err error) {
	if c.dictionary == nil {
		c.values, err = c.column.convert(dst, c.values, n)
		return err
	}
	for n > 0 {
		places := c.scratch[:min(n, len(c.scratch))]
		if err := c.places.read(places); err != nil {
			return err
		}
		most := uint32(0)
		for _, at := range places {
			most = max(most, uint32(at))
		}
		if int64(most) >= int64(c.dictionary.len()) {
			return fmt.Errorf("has place %d of a dictionary of %d", most, c.dictionary.len())
		}
		dst.take(c.dictionary, places)
		n -= len(places)
	}
	return nil
}

// more reads the next page of data with values, if the one before is read.
func (c *cursor) more() error {
	for c.left == 0 {
		h, err := c.next()
		switch {
		case err == io.EOF:
			return errEnds
		case err != nil:
			return err
		case h.kind == pageDictionary:
			err = c.readDictionary(&h)
		case h.kind == pageData || h.kind == pageDataV2:
			err = c.begin(&h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readDictionary reads the dictionary of the chunk.
func (c *cursor) readDictionary(h *header) error {
	if c.hasDict || h.encoding != encodingPlain && h.encoding != encodingPlainDictionary {
		return fmt.Errorf("is a second dictionary, or one of encoding %d", h.encoding)
	}
	if err := c.limits.Decoded(h.values, int64(len(c.page))); err != nil {
		return err
	}
	c.dict, c.hasDict = newVector(c.form, false), true
	_, err := c.column.convert(&c.dict, c.page, int(h.values))
	c.page = nil // texts lie in it
	return err
}

// begin begins a page of data.
func (c *cursor) begin(h *header) error {
	repeats, definitions, values, err := c.cut(h)
	if err != nil {
		return err
	}
	if c.column.List {
		if c.repeats, err = newHybrid(repeats, 1); err != nil {
			return err
		}
	}
	if c.definitions, err = newHybrid(definitions, levelBits(c.column.definition)); err != nil {
		return err
	}
	c.left, c.dictionary = int(h.values), nil
	switch e := h.encoding; {
	case c.column.physical == typeBoolean && e == encodingPlain:
		c.places, c.dictionary = hybrid{pack: values, width: 1, left: 8 * len(values)}, c.booleans()
	case c.column.physical == typeBoolean && e == encodingRuns && len(values) >= 4:
		c.dictionary = c.booleans()
		c.places, err = newHybrid(values[4:], 1)
	case e != encodingDictionary && e != encodingPlainDictionary:
		c.values, err = c.plain(values, e, c.left)
		if c.column.physical == typeBytes && c.form == column.AsText || c.column.physical == typeFixed {
			c.page = nil // texts lie in it
		}
	case !c.hasDict:
		return errors.New("has places of a dictionary that is not there")
	case len(values) == 0 && h.values > 0:
		c.places, c.dictionary = hybrid{}, &c.dict // none is there
	case len(values) > 0:
		c.dictionary = &c.dict
		c.places, err = newHybrid(values[1:], uint(values[0]))
	}
	return err
}

// booleans returns false and true.
func (c *cursor) booleans() *vector {
	c.dict = newVector(c.form, false)
	if _, err := c.column.convert(&c.dict, []byte{0, 1}, 2); err != nil {
		panic("parquet: false and true are no booleans")
	}
	return &c.dict
}
