package train

import (
	"fmt"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// wantFinite returns an error that names the first variable with a NaN or an
// infinity, which the last update may have brought and the next loss would show.
// Replicas are equal, so that all ranks come to the same.
func (r *run) wantFinite() error {
	for _, v := range r.model.Variables() {
		if !finite(v.Value) {
			return &ring.Cause{
				Rank: -1, Step: r.loop.Step, Operation: "checkpoint", ExitCode: exitcode.NotFinite,
				Text: fmt.Sprintf("variable %s is not finite; %s", v.Name, notFiniteAdvice),
			}
		}
	}
	return nil
}

// finite tells whether no value is a NaN or an infinity. It takes a seventh of the
// time of the digest that each checkpoint begins with: a second of one core for 5
// GB of variables.
func finite(x []float32) bool {
	for _, v := range x {
		if v-v != 0 { // NaN for both of them
			return false
		}
	}
	return true
}
