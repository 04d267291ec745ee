package text

import (
	"context"

	"ringtrain/input"
	"ringtrain/input/internal/blockcache"
)

// Headers calls visit with the header of each file that has one, in the order of the files: the
// line of its first record, with Config.Header. An error of visit becomes one of that line.
func (s *Set) Headers(visit func(file string, line []byte) error) error {
	for _, f := range s.files {
		if f.header < 0 {
			continue
		}
		line, offset, err := s.headerOf(f)
		if err != nil {
			return err
		}
		if err := visit(f.Name, line); err != nil {
			return s.flaw(f, offset, -1, err)
		}
	}
	return nil
}

// headerOf reads the header of a file.
func (s *Set) headerOf(f *file) (line []byte, offset int64, err error) {
	r, err := f.open()
	if err != nil {
		return nil, 0, err
	}
	defer f.release(r)
	var l lines
	b := blockReader{lines: &l, file: f, r: r, config: &s.config}
	if err := b.read(f.header); err != nil {
		return nil, 0, err
	}
	if b.long >= 0 || len(l.spans) == 0 {
		return nil, 0, f.Changed("its header is not where it was")
	}
	return l.line(0), l.offset(0), nil
}

// EachBlock reads all blocks side by side, in no order. For each it calls begin, the function
// that begin returned with the line of each training record, and end. A line whose function returns an error
// is one, the first of all in the order of the files; or, if tolerate is true, is left out.
func (s *Set) EachBlock(ctx context.Context, tolerate bool, begin func(block int) func(line []byte) error, end func(block int)) error {
	return input.SideBySide(ctx, s.blocks.Len(), s.goroutines(), func(_, at int) error {
		visit, first := begin(at), s.blocks.First(at)
		err := s.eachLine(at, func(block *lines, k int) error {
			if !s.facts.Parts.Trains(first + k) {
				return nil
			}
			line, err := block.text(k)
			if err != nil {
				return err
			}
			return visit(line)
		}, unless(tolerate))
		if err != nil {
			return err
		}
		end(at)
		return nil
	})
}

// eachLine calls visit with each line of a block. An error of visit becomes one of that line,
// which ends eachLine unless bad takes it.
func (s *Set) eachLine(at int, visit func(block *lines, k int) error, bad func(k int, err error) error) error {
	if s.blocks.Count(at) == 0 {
		return nil
	}
	block, err := s.loaded.Get(at)
	if err != nil {
		return err
	}
	defer s.loaded.Put(block)
	for k := range block.Data.spans {
		if err := visit(&block.Data, k); err != nil {
			place := blockcache.Location{Record: s.blocks.First(at) + k, Block: at, Place: k}
			if err := bad(k, s.lineError(place, &block.Data, err)); err != nil {
				return err
			}
		}
	}
	return nil
}

// unless returns the bad of eachLine that takes all errors if tolerate is true, else none.
func unless(tolerate bool) func(int, error) error {
	return func(_ int, err error) error {
		if tolerate {
			return nil
		}
		return err
	}
}
