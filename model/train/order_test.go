package train

import (
	"slices"
	"strings"
	"testing"
)

// TestOrderKey verifies that an unknown rule is refused, and that ranks with different rules do not
// agree.
func TestOrderKey(t *testing.T) {
	cfg := loadText(t, linearText, "allreduce.order=0,2,1")
	trainer, err := newTrainer(cfg, Options{Resume: "auto"}, linearData())
	if err != nil || !slices.Contains(trainer.Agree(), "allreduce.order=0,2,1") {
		t.Errorf("agrees on %v, error %v", trainer.Agree(), err)
	}
	cfg.AllReduce.Order = "0,0"
	if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), `allreduce.order is "0,0": rank 0 is in it twice`) {
		t.Errorf("error %v, want one about allreduce.order", err)
	}
}
