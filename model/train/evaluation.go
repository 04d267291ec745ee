package train

import (
	"context"
	"errors"
	"time"

	"ringtrain/export/checkpoint"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring"
)

// evaluation computes the metrics of the replica. It remembers the last ones over generations.
type evaluation struct {
	main   evaluate.Evaluator   // without Data if the job has no validation records
	others []evaluate.Evaluator // of input.evals
	loader *records.Loader      // the rest of the validation records

	last      *report.Metrics // of main; nil: none
	lastStep  int64           // of the last evaluation, -1 for none
	threshold float64         // of two classes: that of last
	at        time.Time       // of the last attempt
}

func newEvaluation(cfg *job.Config, data records.Set, m *model.Model) evaluation {
	e := evaluation{loader: records.NewLoader(data.Eval), lastStep: -1, threshold: cfg.Eval.Threshold.Number}
	e.main = evaluate.Evaluator{Model: m, Data: data.Eval, Split: data.Split, TopK: cfg.Eval.TopK, MaxBad: records.MaxBad(cfg, data.Split), Load: e.loader.Load, Threshold: cfg.Eval.Threshold.Number, BestF1: cfg.Eval.Threshold.BestF1}
	for _, set := range data.Evals {
		e.others = append(e.others, evaluate.Evaluator{Model: m, Data: set.Data, Split: "eval", Name: set.Files.Name, TopK: cfg.Eval.TopK})
	}
	return e
}

// run returns the metrics of the validation records, if there are any, and then of the items of input.evals in their
// order, up to the first failure. The end of work is a failure of this rank.
func (e *evaluation) run(ctx, work context.Context, g *ring.Group) (all []report.Metrics, err error) {
	e.at = time.Now() // also after a failure: the next interval tries again
	if e.main.Data != nil {
		m, err := e.main.Run(ctx, work, g)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
		if m.Threshold != nil {
			e.threshold = float64(*m.Threshold)
		}
	}
	for i := range e.others {
		e.others[i].Threshold = e.threshold
		m, err := e.others[i].Run(ctx, work, g)
		if failed, ok := errors.AsType[evaluate.Failure](err); ok {
			failed.Text = job.EvalKey(e.others[i].Name, i) + ": " + failed.Text
		}
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
	return all, nil
}

// stored returns the last evaluation in the form of a checkpoint, with the best one.
func (e *evaluation) stored(best bestEvaluation) checkpoint.Evaluation {
	if e.last == nil {
		return checkpoint.Evaluation{Best: best.stored()}
	}
	kept := checkpoint.Evaluation{Loss: checkpoint.Sum(e.last.Loss), Constant: checkpoint.Sum(e.last.Constant), Best: best.stored()}
	kept.Metrics = map[string]checkpoint.Sum{}
	for name, v := range job.MetricsOf(e.last) {
		kept.Metrics[name] = checkpoint.Sum(v)
	}
	if e.main.BestF1 {
		kept.Threshold = &e.threshold
	}
	return kept
}
