package vw

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"ringtrain/input"
	"ringtrain/input/text"
	"ringtrain/model/tensor"
)

// parser turns lines into records.
type parser struct {
	config Config
	size   uint64
	mask   uint64 // size − 1 if size is a power of two, else 0
	dense  text.Dense
}

func newParser(c Config) *parser {
	p := &parser{config: c, size: uint64(c.Features)}
	if p.size&(p.size-1) == 0 {
		p.mask = p.size - 1
	}
	return p
}

// parse adds the record of a line, which ends with \n.
func (p *parser) parse(b *input.Batch, line []byte, _ int) error {
	end := len(line) - 1
	if end > 0 && line[end-1] == '\r' { // which ends words, too
		end--
	}
	all := line[:end+text.Pad]
	bar := bytes.IndexByte(all[:end], '|')
	if bar < 0 {
		bar = end
	}
	y, importance, err := p.label(all[:bar+text.Pad])
	if err != nil {
		return err
	}
	if p.config.Dense {
		err = p.dense.Append(b, p.config.Features, func(x *tensor.Bags) error { return p.namespaces(x, all, bar) })
	} else {
		x := b.Bags(1)
		err = p.namespaces(x, all, bar)
		x.End()
	}
	b.Y = append(b.Y, y)
	b.SetImportance(importance)
	return err
}

// label reads the label, the weight and the tag, which precede the first bar, unless they may be absent.
func (p *parser) label(all []byte) (y, importance float32, err error) {
	if p.config.Labels.Absent {
		return 0, 1, nil
	}
	head := all[:len(all)-text.Pad]
	if tab := bytes.IndexByte(head, '\t'); tab >= 0 {
		head = head[tab+1:]
	}
	var words [5][]byte
	n := 0
	for i := 0; i < len(head); {
		if head[i] == ' ' {
			i++
			continue
		}
		end := i
		for end < len(head) && head[end] != ' ' {
			end++
		}
		if end == len(head) || head[i] == '\'' { // a tag
			break
		}
		if n < len(words) {
			words[n] = head[i:end]
			n++
		}
		i = end
	}
	switch {
	case n == 0:
		return 0, 0, fmt.Errorf("%.40q has no label before the bar", head)
	case n > 3:
		return 0, 0, fmt.Errorf("%.40q has %d words before the bar, want label, weight and tag", head, n)
	}
	v, err := number(words[0])
	if err != nil {
		return 0, 0, fmt.Errorf("label is %.40q, want a number", words[0])
	}
	if y, err = p.config.Labels.Value(v); err != nil {
		return 0, 0, err
	}
	importance = 1
	if n > 1 {
		w, err := number(words[1])
		if importance = float32(w); err != nil || !input.Finite(importance) || importance < 0 {
			return 0, 0, fmt.Errorf("weight is %.40q, want a number of 0 or more", words[1])
		}
	}
	if n > 2 {
		if base, err := number(words[2]); err != nil || base != 0 {
			return 0, 0, fmt.Errorf("initial prediction is %.40q, want none", words[2])
		}
	}
	return y, importance, nil
}

// number reads a word of the label.
func number(word []byte) (float64, error) {
	if len(word) == 1 && word[0]-'0' < 10 {
		return float64(word[0] - '0'), nil
	}
	return text.ParseFloat(word, 64)
}

// namespaces adds the features of a line, which has a bar or its end at place i.
func (p *parser) namespaces(x *tensor.Bags, all []byte, i int) error {
	end := len(all) - text.Pad
	for i < end {
		i++ // the bar
		ns := namespace{factor: 1}
		if !ends(all[i]) {
			if all[i] == ':' {
				return fmt.Errorf("%.40q, want the name of a namespace, or a blank", word(all, i-1))
			}
			n := nameLength(all[i:])
			ns.hash = hashString(all[i:i+n+text.Pad], 0)
			if i += n; all[i] == ':' {
				var err error
				if ns.factor, i, err = factor(all, i+1); err != nil {
					return err
				}
			}
		}
		var err error
		if i, err = p.features(x, all, i, ns); err != nil {
			return err
		}
	}
	return nil
}

// namespace is the state that the features of a namespace share.
type namespace struct {
	hash   uint64
	factor float32
}

// features adds the features of a namespace from place i on, and returns the place of the
// next bar, or of the end.
func (p *parser) features(x *tensor.Bags, all []byte, i int, ns namespace) (int, error) {
	anonymous := uint64(0)
	// A feature has two bytes at least, with the blank before it.
	x.Slot, x.Weights = slices.Grow(x.Slot, len(all)/2+1), slices.Grow(x.Weights, len(all)/2+1)
	for {
		for all[i] == ' ' || all[i] == '\t' {
			i++
		}
		if id, n := text.Digits(binary.LittleEndian.Uint64(all[i:])); n > 0 && n < 8 && all[i+n] == ' ' && ns.factor != 0 {
			x.Add(p.id(id+ns.hash), ns.factor) // most often it is a number alone
			i += n
			continue
		}
		if all[i] == '|' || all[i] == '\n' || all[i] == '\r' {
			return p.lineEnd(all, i)
		}
		var hash uint64
		id, n := text.Uint(all[i:])
		if n > 0 && n <= 19 && nameEnds(all[i+n]) {
			hash = id + ns.hash
		} else if n = nameLength(all[i:]); n > 0 {
			hash = hashSlow(all[i:i+n], ns.hash)
		} else {
			hash = ns.hash + anonymous
			anonymous++
		}
		value := ns.factor
		if i += n; all[i] == ':' {
			v, n := text.Float32(all[i+1:])
			switch i++; {
			case n > 0 && ends(all[i+n]):
				value *= v
				i += n
			default:
				var err error
				if hash, value, i, err = slowValue(all, i, hash, ns.factor); err != nil {
					return 0, err
				}
			}
		}
		if !input.Finite(value) {
			return 0, fmt.Errorf("value times the factor of its namespace is %g, want a finite float32", value)
		}
		if value = input.Normal(value); value != 0 {
			x.Add(p.id(hash), value)
		}
	}
}

// lineEnd returns i, the place of a bar or of the end of the line, but refuses \r within it.
func (p *parser) lineEnd(all []byte, i int) (int, error) {
	if i < len(all)-text.Pad && all[i] != '|' {
		return 0, fmt.Errorf("byte %d of the line is %q, want a blank or a bar", i, all[i])
	}
	return i, nil
}

// slowValue reads what follows the colon of a feature with strconv. A word that is no
// number, or none, is a part of the name.
func slowValue(all []byte, i int, hash uint64, factor float32) (uint64, float32, int, error) {
	n := text.Word(all[i:])
	if bar := bytes.IndexByte(all[i:i+n], '|'); bar >= 0 {
		n = bar
	}
	word := all[i : i+n]
	wide, err := text.ParseFloat(word, 32)
	switch value := float32(wide); {
	case n == 0 || err == nil && !input.Finite(value):
		return 0, 0, 0, fmt.Errorf("value is %.40q, want a finite float32", word)
	case err == nil:
		return hash, value * factor, i + n, nil
	}
	if _, err := text.ParseFloat(word, 64); err == nil || word[0] >= '0' && word[0] <= '9' || word[0] == '-' || word[0] == '.' {
		return 0, 0, 0, fmt.Errorf("value is %.40q, want a finite float32", word)
	}
	return hashSlow(word, hash), factor, i + n, nil
}

// factor reads the number at place i, behind the name of a namespace.
func factor(all []byte, i int) (float32, int, error) {
	n := 0
	for !ends(all[i+n]) {
		n++
	}
	v, err := text.ParseFloat(all[i:i+n], 32)
	if err != nil || !input.Finite(float32(v)) {
		return 0, 0, fmt.Errorf("factor of a namespace is %.40q, want a finite float32", all[i:i+n])
	}
	return float32(v), i + n, nil
}

// id returns the id of a hash.
func (p *parser) id(hash uint64) uint32 {
	if p.mask != 0 {
		return uint32(hash & p.mask)
	}
	return uint32(hash % p.size)
}

// nameLength is the length of a name.
func nameLength(p []byte) int {
	n := 0
	for !nameEnds(p[n]) {
		n++
	}
	return n
}

// ends reports whether c ends a value, and nameEnds whether it ends a name.
func ends(c byte) bool {
	return c == ' ' || c == '\t' || c == '|' || c == '\r' || c == '\n'
}

func nameEnds(c byte) bool { return c == ':' || ends(c) }

// word returns the word that begins at place i.
func word(all []byte, i int) []byte { return all[i : i+text.Word(all[i:])] }
