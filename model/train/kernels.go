package train

import (
	"fmt"

	"ringtrain/model"
)

// tellKernels tells that the checkpoint was trained with another kernel set than the
// ranks have, which is allowed: the run goes on, with bits that one without the change
// would not have. All ranks have the same set, see Agree.
func (r *run) tellKernels() {
	was := r.kernels
	r.kernels = ""
	if was == "" || was == model.KernelSet || r.finished {
		return
	}
	r.emit(Decision{
		What: "kernels", Choice: model.KernelSet,
		Why: fmt.Sprintf("the checkpoint was trained with %s: from step %d on bits may differ from those of a run without the change", was, r.where.step+1),
	})
}
