package events

import "slices"

// history has the steps that each tag's curve already has, in ascending order.
type history map[string][]int64

// readHistory returns the steps before a given one in files. An unreadable record ends
// its file, as it does for TensorBoard.
func readHistory(files []string, before int64) history {
	h := history{}
	for _, name := range files {
		r, err := Open(name)
		if err != nil {
			continue
		}
		for e, err := r.Next(); err == nil; e, err = r.Next() {
			h.add(e)
		}
		r.Close()
	}
	h.cut(before)
	return h
}

func (h history) add(e Event) {
	if e.Start {
		h.cut(e.Step)
	}
	for _, s := range e.Scalars {
		h[s.Tag] = append(before(h[s.Tag], e.Step), e.Step)
	}
}

// cut removes step and all later steps.
func (h history) cut(step int64) {
	for tag, steps := range h {
		h[tag] = before(steps, step)
	}
}

func before(steps []int64, step int64) []int64 {
	n, _ := slices.BinarySearch(steps, step)
	return steps[:n]
}

// last returns the newest step of each tag.
func (h history) last() map[string]int64 {
	newest := map[string]int64{}
	for tag, steps := range h {
		if len(steps) > 0 {
			newest[tag] = steps[len(steps)-1]
		}
	}
	return newest
}
