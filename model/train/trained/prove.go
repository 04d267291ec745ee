package trained

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"ringtrain/export/savedmodel"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/proof"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// prove compares the graph in the folder of an unpublished version with the model. It returns the proof, and the files about
// it. Without records the requests that are made up stand for them.
func (ex Exporter) prove(ctx context.Context, dir string, step int64) (savedmodel.Proof, savedmodel.Extra, error) {
	r, err := ex.Proving(ctx)
	if err != nil {
		return savedmodel.Proof{}, nil, err
	}
	defer r.Close()
	p, err := proof.Open(dir, proof.Subject{Model: ex.Model, Plan: r.Plan, Names: featureNames(ex.Job)})
	if err != nil {
		return savedmodel.Proof{}, nil, err
	}
	defer p.Close()
	made := savedmodel.Proof{Bound: proof.Bound, Signatures: p.Signatures(), Step: step, Kernels: ex.Model.Engine().Set().String()}
	if r.Data != nil {
		made.Of = r.Data.Facts().Records
		if made.Records, made.Metric, err = ex.compare(ctx, p, r); err != nil {
			return made, nil, err
		}
	}
	requests := p.MakeUp()
	if made.Records == 0 {
		made.Records, made.Of, made.MadeUp = len(requests), len(requests), true
	}
	if err := p.Others(requests); err != nil {
		return made, nil, err
	}
	made.MaxDifference, made.Record = report.Number(p.Largest), p.Record
	extra, err := files(p, requests, ex.Job.Name, made)
	return made, extra, err
}

// files returns the files of a proof, and of requests that are made up.
func files(p *proof.Prover, requests []proof.Request, name string, made savedmodel.Proof) (savedmodel.Extra, error) {
	warm, err := p.WarmUp(name, requests)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(made)
	return savedmodel.Extra{savedmodel.ProofFile: append(text, '\n'), savedmodel.WarmUpFile: warm}, err
}

// compare compares the graph and the model on records. It returns how many, and the metric of them.
func (ex Exporter) compare(ctx context.Context, p *proof.Prover, r records.Proving) (int, *report.Compared, error) {
	data := p.Records(r.Data, proof.MaxRecords)
	e := evaluate.Evaluator{Model: ex.Model, Data: data, Split: r.Split, Answers: p.Answers, Threshold: ex.Job.Eval.Threshold.Number}
	if ex.Tolerate {
		e.MaxBad = math.MaxInt64
	}
	graph, err := alone(ctx, &e)
	if err != nil {
		return 0, nil, err
	}
	e.Answers = nil
	model, err := alone(ctx, &e)
	if err != nil {
		return 0, nil, err
	}
	name, byGraph := mainMetric(&graph)
	_, byModel := mainMetric(&model)
	return int(graph.Examples), &report.Compared{Name: name, Model: byModel, Graph: byGraph}, nil
}

// mainMetric returns the metric that tells most of a model.
func mainMetric(m *report.Metrics) (name string, value report.Number) {
	switch {
	case m.AUC != nil:
		return "auc", *m.AUC
	case m.Accuracy != nil:
		return "accuracy", *m.Accuracy
	case m.RMSE != nil:
		return "rmse", *m.RMSE
	}
	return "loss", m.Loss
}

// alone runs an evaluation in this process alone.
func alone(ctx context.Context, e *evaluate.Evaluator) (report.Metrics, error) {
	m := ring.Membership{Generation: 1, Workers: []ring.Worker{{}}}
	g, err := ring.New(ctx, m, ring.Transport{}, ring.DefaultConfig())
	if err != nil {
		return report.Metrics{}, err
	}
	defer g.Close()
	metrics, err := e.Run(ctx, ctx, g)
	if failed, ok := errors.AsType[evaluate.Failure](err); ok { // without the rank: there is only one
		err = exitcode.With(failed.ExitCode, errors.New(failed.Text))
	}
	return metrics, err
}
