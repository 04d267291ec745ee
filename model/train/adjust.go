package train

// adjust returns what changes the summed gradients before each update, nil for nothing.
func (t *Trainer) adjust() func(rows [][]int64) {
	vars, bound := t.model.Variables(), clip{t.job.Train.ClipNorm, t.job.Train.ClipValue}
	if bound.none() {
		return nil
	}
	return func(rows [][]int64) { bound.apply(vars, rows) }
}
