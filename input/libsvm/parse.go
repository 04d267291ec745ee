package libsvm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"ringtrain/input"
	"ringtrain/input/text"
	"ringtrain/model/tensor"
)

// parser turns lines into records.
type parser struct {
	config   Config
	bound    input.IDs
	features int // columns of a row that is made dense
	dense    text.Dense
	idle     sync.Pool // *fields
}

// parse adds the record of a line, which ends with \n. Number by number it first tries what
// is quick, and leaves to strconv what is rare or wrong.
func (p *parser) parse(b *input.Batch, line []byte, _ int) error {
	all := line[:len(line)+text.Pad]
	i := skip(all, 0)
	y, n, err := p.label(all[i:])
	if err != nil {
		return err
	}
	i = skip(all, i+n)
	if bytes.HasPrefix(all[i:len(line)], []byte("qid:")) {
		i += wordLength(all[i:])
	}
	if p.config.Dense {
		err = p.dense.Append(b, p.features, func(x *tensor.Bags) error { return p.pairs(x, nil, all, i) })
	} else {
		x := b.Bags(max(p.config.Bags, 1))
		if p.config.Bags > 0 {
			err = p.bags(x, all, i)
		} else {
			err = p.pairs(x, nil, all, i)
			x.End()
		}
	}
	b.Y = append(b.Y, y)
	return err
}

// skip returns the place of the next word or line end.
func skip(p []byte, i int) int {
	for p[i] == ' ' || p[i] == '\t' || p[i] == '\r' {
		i++
	}
	return i
}

// wordLength is the length of a word, which a # ends too.
func wordLength(p []byte) int {
	n := text.Word(p)
	if k := bytes.IndexByte(p[:n], '#'); k >= 0 {
		return k
	}
	return n
}

// ends reports whether c ends a word.
func ends(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#' }

// label reads the label at the beginning of all, and returns its length. Where labels may be absent, it
// only passes over it: a first word with a colon is no label.
func (p *parser) label(all []byte) (float32, int, error) {
	if p.config.Labels.Absent {
		n := wordLength(all)
		if bytes.IndexByte(all[:n], ':') >= 0 {
			n = 0
		}
		return 0, n, nil
	}
	v, n := text.Float64(all)
	if n == 0 || !ends(all[n]) {
		n = wordLength(all)
		var err error
		if v, err = text.ParseFloat(all[:n], 64); err != nil {
			return 0, 0, fmt.Errorf("label is %.40q, want a number", all[:n])
		}
	}
	y, err := p.config.Labels.Value(v)
	return y, n, err
}

// pairs adds the pairs of a line from place i on, and the fields of libffm to f unless it is nil.
func (p *parser) pairs(x *tensor.Bags, f *fields, all []byte, i int) error {
	// A pair has four bytes at least, with the blank before it.
	ids := slices.Grow(x.Slot, len(all)/4+1)
	weights := slices.Grow(x.Weights, len(all)/4+1)
	k := len(ids)
	ids, weights = ids[:cap(ids)], weights[:cap(weights)]
	base, below := uint64(p.config.Base), uint64(p.bound.Below)
	for {
		for all[i] == ' ' || all[i] == '\t' || all[i] == '\r' {
			i++
		}
		if all[i] == '\n' || all[i] == '#' {
			break
		}
		if p.config.Fields {
			number, place, err := p.field(all, i)
			if err != nil {
				return err
			}
			i = place
			if f != nil {
				f.of = append(f.of, number)
			}
		}
		id, n := text.Digits(binary.LittleEndian.Uint64(all[i:]))
		colon := i + n
		if n == 8 || n == 0 || all[colon] != ':' || id-base >= below {
			var err error
			if id, colon, err = p.index(all, i); err != nil {
				return err
			}
		} else {
			id -= base
		}
		value := float32(all[colon+1] - '0')
		if end := colon + 2; value < 10 && ends(all[end]) {
			i = end
		} else {
			v, n := text.Float32(all[colon+1:])
			if i, value = colon+1+n, v; n == 0 || !ends(all[i]) {
				var err error
				if value, i, err = p.value(all, colon); err != nil {
					return err
				}
			}
		}
		if id >= below { // see IDs.Drop
			if f != nil {
				f.of = f.of[:len(f.of)-1]
			}
			continue
		}
		ids[k], weights[k] = uint32(id), value
		k++
	}
	x.Slot, x.Weights = ids[:k], weights[:k]
	return nil
}

// index reads the index of the word at place i as strconv does, and returns its id and the
// place of the colon behind it.
func (p *parser) index(all []byte, i int) (id uint64, colon int, err error) {
	word := all[i : i+wordLength(all[i:])]
	n := bytes.IndexByte(word, ':')
	if n < 0 {
		return 0, 0, p.wordError(all, i)
	}
	index, err := strconv.ParseInt(string(word[:n]), 10, 64)
	if err != nil {
		return 0, 0, p.wordError(all, i)
	}
	base := int64(p.config.Base)
	switch {
	case index < base:
		return 0, 0, fmt.Errorf("index is %d, want %d or more, as base says", index, base)
	case index-base >= p.bound.Below && !p.bound.Drop:
		return 0, 0, fmt.Errorf("index is %d, want one in [%d, %d)%s", index, base, base+p.bound.Below, p.bound.Why)
	}
	return uint64(index - base), i + n, nil
}

// mostFieldDigits bounds the digits of a field's number.
const mostFieldDigits = 9

// field returns the number of a field, and the place behind it and its colon.
func (p *parser) field(all []byte, i int) (number uint32, place int, err error) {
	n := 0
	for n <= mostFieldDigits && all[i+n]-'0' < 10 {
		number = 10*number + uint32(all[i+n]-'0')
		n++
	}
	if n == 0 || n > mostFieldDigits || all[i+n] != ':' {
		return 0, 0, p.wordError(all, i)
	}
	if p.config.Bags > 0 && number >= uint32(p.config.Bags) {
		return 0, 0, fmt.Errorf("field is %d, want one in [0, %d), as model.fields says", number, p.config.Bags)
	}
	return number, i + n + 1, nil
}

// wordError is the error of the word that place i is in.
func (p *parser) wordError(all []byte, i int) error {
	start := bytes.LastIndexAny(all[:i], " \t") + 1
	word := all[start : start+wordLength(all[start:])]
	if p.config.Fields {
		return fmt.Errorf("%.40q, want field:index:value", word)
	}
	return fmt.Errorf("%.40q, want index:value", word)
}

// value reads the number behind a colon as strconv does, and returns the place behind it.
func (p *parser) value(all []byte, colon int) (float32, int, error) {
	end := colon + 1 + wordLength(all[colon+1:])
	word := all[colon+1 : end]
	wide, err := text.ParseFloat(word, 32)
	if value := float32(wide); err == nil && input.Finite(value) {
		return input.Normal(value), end, nil
	}
	start := bytes.LastIndexAny(all[:colon], " \t") + 1
	return 0, 0, fmt.Errorf("%.40q: value is %.40q, want a finite float32", all[start:end], word)
}
