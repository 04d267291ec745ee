package evaluate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// weighing is a data set whose record i has the weight weights[i].
type weighing struct {
	input.Dataset
	weights []float32
}

func (w weighing) Append(b *input.Batch, records ...int) error {
	for _, i := range records {
		if err := w.Dataset.Append(b, i); err != nil {
			return err
		}
		b.SetImportance(w.weights[i])
	}
	return nil
}

// repeated is a data set with a record for each element of records.
type repeated struct {
	input.Dataset
	records []int
}

func (r repeated) Facts() input.Facts {
	f := r.Dataset.Facts()
	f.Records = len(r.records)
	return f
}

func (r repeated) Append(b *input.Batch, records ...int) error {
	for _, i := range records {
		if err := r.Dataset.Append(b, r.records[i]); err != nil {
			return err
		}
	}
	return nil
}

// jobs are a regression, classes, and a binary model with many equal scores.
var jobs = []struct {
	name, text string
	data       func() records.Set
}{
	{"linear", linearText, linearData}, {"digits", digitsText, digitsData}, {"clicks", clicksText, clicksData},
}

// TestWeights verifies that a record of weight n counts as n records do, in each metric.
func TestWeights(t *testing.T) {
	for _, tt := range jobs {
		cfg, data := loadText(t, tt.text), tt.data()
		m := randomModel(t, cfg, data)
		r := rand.New(rand.NewPCG(5, 6))
		one, many := weighing{Dataset: data.Eval}, repeated{Dataset: data.Eval}
		for i := range data.Eval.Facts().Records {
			n := r.IntN(4)
			if i < input.EvalBlock {
				n = 1 // a block without weights
			}
			one.weights = append(one.weights, float32(n))
			for range n {
				many.records = append(many.records, i)
			}
		}
		got := evaluatedBy(t, &Evaluator{Model: m, Data: one, Split: "eval", TopK: 3})
		want := evaluatedBy(t, &Evaluator{Model: m, Data: many, Split: "eval", TopK: 3})
		plain := evaluatedBy(t, &Evaluator{Model: m, Data: data.Eval, Split: "eval", TopK: 3})
		if got.Examples != plain.Examples || !reflect.DeepEqual(got.Correct, plain.Correct) {
			t.Errorf("job=%s: %s, want the numbers of records of %s", tt.name, traintest.JSON(t, got), traintest.JSON(t, plain))
		}
		other := slices.ContainsFunc(one.weights, func(w float32) bool { return w != 1 })
		if got.Weighted != other || plain.Weighted {
			t.Errorf("job=%s: weighted is %t, want %t; without weights %t", tt.name, got.Weighted, other, plain.Weighted)
		}
		if tt.name == "clicks" && *got.AUC != *want.AUC {
			t.Errorf("AUC is %v, want %v", *got.AUC, *want.AUC)
		}
		for name, pair := range map[string][2]*report.Number{
			"loss": {&got.Loss, &want.Loss}, "accuracy": {got.Accuracy, want.Accuracy}, "rmse": {got.RMSE, want.RMSE}, "mae": {got.MAE, want.MAE}, "r2": {got.R2, want.R2}, "top_k": {got.TopK, want.TopK},
			"log_loss": {got.LogLoss, want.LogLoss}, "normalized_entropy": {got.NormalizedEntropy, want.NormalizedEntropy}, "calibration": {got.Calibration, want.Calibration},
		} {
			if (pair[0] == nil) != (pair[1] == nil) || pair[0] != nil && traintest.Far(float64(*pair[0]), float64(*pair[1]), 1e-12) {
				t.Errorf("job=%s: %s is %s, want %s", tt.name, name, traintest.JSON(t, pair[0]), traintest.JSON(t, pair[1]))
			}
		}
		for k, at := range got.Thresholds {
			if !sameThreshold(at, want.Thresholds[k]) {
				t.Errorf("job=%s: threshold %+v, want %+v", tt.name, at, want.Thresholds[k])
			}
		}
		if tt.name == "clicks" {
			best := *got.BestF1 // its threshold is also between records of weight 0
			best.Threshold = want.BestF1.Threshold
			if !sameThreshold(best, *want.BestF1) {
				t.Errorf("best F1 %+v, want %+v", *got.BestF1, *want.BestF1)
			}
		}
		for k, bucket := range got.Buckets {
			if other := want.Buckets[k]; traintest.Far(float64(bucket.Predicted), float64(other.Predicted), 1e-12) || traintest.Far(float64(bucket.Observed), float64(other.Observed), 1e-12) {
				t.Errorf("job=%s: bucket %+v, want %+v", tt.name, bucket, other)
			}
		}
	}
}

// TestWeightsBits verifies that weighted metrics have the same bits at any world size, also where some
// ranks have no weights, and that the area is that of the weighted pairs.
func TestWeightsBits(t *testing.T) {
	for _, tt := range jobs {
		cfg, data := loadText(t, tt.text), tt.data()
		m := randomModel(t, cfg, data)
		r := rand.New(rand.NewPCG(7, 8))
		d := weighing{Dataset: data.Eval}
		for i := range data.Eval.Facts().Records {
			w := float32(1)
			if i%1024 >= 512 || data.Eval.Facts().Records < 512 {
				w = float32(math.Exp(4 * r.NormFloat64()))
			}
			d.weights = append(d.weights, w)
		}
		var want report.Metrics
		for i, p := range []int{1, 2, 3, 5} {
			got := make([]report.Metrics, p)
			ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
				e := Evaluator{Model: randomModel(t, cfg, data), Data: d, Split: "eval", TopK: 3}
				var err error
				for range 2 { // the second time in used memory
					got[g.Membership().Rank], err = e.Run(t.Context(), t.Context(), g)
				}
				return err
			})
			if i == 0 {
				want = got[0]
			}
			for rank := range got {
				if !reflect.DeepEqual(got[rank], want) {
					t.Errorf("job=%s world=%d: rank %d has %s, want %s", tt.name, p, rank, traintest.JSON(t, got[rank]), traintest.JSON(t, want))
				}
			}
		}
		if tt.name != "clicks" {
			continue
		}
		var scores, labels []float32
		each(t, data.Eval, m, func(s []float32, y float32) { scores, labels = append(scores, s[0]), append(labels, y) })
		if area := weightedAUC(scores, labels, d.weights); traintest.Far(float64(*want.AUC), area, 1e-9) {
			t.Errorf("AUC is %v, want %v", *want.AUC, area)
		}
	}
}

// weightedAUC is the share of the weight of the pairs in which the positive example scores higher.
func weightedAUC(scores, labels, weights []float32) float64 {
	var wins, all float64
	for i := range scores {
		for k := range scores {
			if labels[i] == 0 || labels[k] > 0 {
				continue
			}
			w := float64(weights[i]) * float64(weights[k])
			all += w
			switch {
			case scores[i] > scores[k]:
				wins += w
			case scores[i] == scores[k]:
				wins += w / 2
			}
		}
	}
	return wins / all
}

// TestWeightedRounds has ranks send one, two or seven weighted scores a round, mixed with scores of
// examples of weight 1, and verifies the area.
func TestWeightedRounds(t *testing.T) {
	for _, most := range []int{1, 2, 7} {
		r := rand.New(rand.NewPCG(uint64(most), 1))
		ranks, others := make([]weighted, 3), make([]model.Ranking, 3)
		var scores, labels, weights []float32
		for rank := range ranks {
			for range 60 {
				s, y, w := []float32{float32(r.IntN(20) + rank)}, []float32{float32(r.IntN(2))}, []float32{float32(r.IntN(5))}
				if r.IntN(2) == 0 {
					w[0] = 1
					others[rank].Add(s, y)
				} else {
					ranks[rank].add(s, y, w)
				}
				scores, labels, weights = append(scores, s...), append(labels, y...), append(weights, w...)
			}
			others[rank].Sort()
			ranks[rank].sorted(&others[rank])
		}
		m := merger{most: most, tie: weightedBytes, ranks: make([][]byte, len(ranks)), area: new(weightedArea)}
		for more := true; more; {
			for rank := range ranks {
				m.ranks[rank] = ranks[rank].appendTies(nil, most)
			}
			counted, again, err := m.round()
			if err != nil {
				t.Fatal(err)
			}
			for rank := range ranks {
				ranks[rank].drop(counted)
			}
			more = again
		}
		if got, want := m.area.value(), weightedAUC(scores, labels, weights); traintest.Far(got, want, 1e-12) {
			t.Errorf("most=%d: area %v, want %v", most, got, want)
		}
	}
}

// TestWeightsZero verifies that records whose weights are all 0 are an error.
func TestWeightsZero(t *testing.T) {
	cfg, data := loadText(t, clicksText), clicksData()
	d := weighing{data.Eval, make([]float32, data.Eval.Facts().Records)}
	ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
		e := Evaluator{Model: randomModel(t, cfg, data), Data: d, Split: "eval"}
		if _, err := e.Run(t.Context(), t.Context(), g); err == nil || !strings.Contains(err.Error(), "the weights of all eval records are 0") || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("error %v (%d)", err, exitcode.Of(err))
		}
		return nil
	})
}

// TestWeightedAreaIsExact verifies the area over weights of the whole range of float32, among them 1 and
// 1e20, on one rank and on three: it is the quotient of the exact sums.
func TestWeightedAreaIsExact(t *testing.T) {
	choices := [][]float32{{1, 1e20}, {1e20, 1, 1, 1}, {math.SmallestNonzeroFloat32, 1, math.MaxFloat32, 0.1, 3}}
	for seed, of := range choices {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		var scores, labels, weights []float32
		for i := range 300 {
			scores, labels = append(scores, float32(r.IntN(40))), append(labels, float32(r.IntN(2)))
			w := of[r.IntN(len(of))]
			if seed == 1 && labels[i] == 0 {
				w = 1 // only positives are heavy
			}
			weights = append(weights, w)
		}
		var wins, pairs big.Float
		for _, sum := range []*big.Float{&wins, &pairs} {
			sum.SetPrec(1000)
		}
		for i, yes := range labels {
			for k, no := range labels {
				if yes != 1 || no != 0 {
					continue
				}
				w := new(big.Float).SetPrec(1000).SetFloat64(float64(weights[i]))
				w.Mul(w, new(big.Float).SetFloat64(float64(weights[k])))
				pairs.Add(&pairs, w)
				switch {
				case scores[i] > scores[k]:
					wins.Add(&wins, w)
				case scores[i] == scores[k]:
					wins.Add(&wins, w.Quo(w, big.NewFloat(2)))
				}
			}
		}
		want, _ := wins.Quo(&wins, &pairs).Float64()
		for _, p := range []int{1, 3} {
			ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
				rank := g.Membership().Rank
				var w weighted
				var others model.Ranking
				for i := rank; i < len(scores); i += p {
					if weights[i] == 1 {
						others.Add(scores[i:i+1], labels[i:i+1])
					} else {
						w.add(scores[i:i+1], labels[i:i+1], weights[i:i+1])
					}
				}
				others.Sort()
				m := merger{tie: weightedBytes, area: new(weightedArea)}
				err := m.count(t.Context(), g, w.sorted(&others))
				got := m.area.value()
				if err == nil && traintest.Far(got, want, 1e-15) {
					t.Errorf("weights %v, %d ranks: area %v, want %v", of, p, got, want)
				}
				return err
			})
		}
	}
}

// TestWeightsOfAllRefuses verifies that a message of weights with another length is an error of the protocol that names
// the rank.
func TestWeightsOfAllRefuses(t *testing.T) {
	for _, n := range []int{0, 2*sumBytes - 1, 2*sumBytes + 1} {
		ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
			if g.Membership().Rank == 1 {
				return g.AllGather(t.Context(), make([]byte, n), new(ring.Gathered))
			}
			_, err := new(weighted).all(t.Context(), g, new(model.Ranking))
			if exitcode.Of(err) != exitcode.Protocol || !strings.Contains(err.Error(), "rank 1 sent") {
				t.Errorf("bytes=%d: error %v (%d), want %d", n, err, exitcode.Of(err), exitcode.Protocol)
			}
			return nil
		})
	}
}
