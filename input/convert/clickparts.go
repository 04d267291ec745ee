package convert

import (
	"context"
	"math"
	"runtime"
)

// partRows is the number of records of a part.
const partRows = 4096

// A clickPart is the records [first, last), drawn and encoded.
type clickPart struct {
	first, last   int
	text          []byte
	labels        []uint8
	probabilities []float64

	done chan struct{} // receives a value when the part is filled
}

// inOrder fills parts on all cores and passes them to put in the order of the records.
// It keeps two parts per core in memory.
func inOrder(ctx context.Context, rows int, newFill func() func(*clickPart), put func(*clickPart) error) error {
	cores := runtime.GOMAXPROCS(0)
	work, free := make(chan *clickPart, 2*cores), make(chan *clickPart, 2*cores)
	defer close(work)
	for range cores {
		go func() {
			fill := newFill()
			for p := range work {
				fill(p)
				p.done <- struct{}{}
			}
		}()
	}
	for range cap(free) {
		free <- &clickPart{done: make(chan struct{}, 1)}
	}
	var waiting []*clickPart // parts being filled, in order
	for first := 0; first < rows || len(waiting) > 0; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if first < rows && len(free) > 0 {
			p := <-free
			p.first, p.last = first, min(first+partRows, rows)
			first = p.last
			waiting = append(waiting, p)
			work <- p
			continue
		}
		p := waiting[0]
		waiting = waiting[1:]
		<-p.done
		if err := put(p); err != nil {
			return err
		}
		free <- p
	}
	return nil
}

// knownModel accumulates the scores of the hidden model in bounded memory. Scores of one
// bin count as ties, which changes the AUC by less than 1e-6.
type knownModel struct {
	counts [2][1 << 16]int64 // by label
	loss   float64
}

func (k *knownModel) add(p *clickPart) {
	for i, label := range p.labels {
		probability := p.probabilities[i]
		bins := &k.counts[label]
		bins[min(int(probability*float64(len(bins))), len(bins)-1)]++
		if label == 0 {
			probability = 1 - probability
		}
		k.loss -= math.Log(max(probability, 1e-30))
	}
}

// result returns the number of clicks, and AUC and mean log loss of the hidden model.
// The AUC is NaN if all labels are equal.
func (k *knownModel) result() (clicks int, auc, logLoss float64) {
	var zeros, ones int64
	above := 0.0 // number of pairs with a higher score of the click; ties count half
	for i, n := range k.counts[1] {
		z := k.counts[0][i]
		above += float64(n) * (float64(zeros) + float64(z)/2)
		zeros, ones = zeros+z, ones+n
	}
	return int(ones), above / (float64(zeros) * float64(ones)), k.loss / float64(zeros+ones)
}
