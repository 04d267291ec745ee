package train

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringtrain/export/checkpoint"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/order"
	"ringtrain/ring/ringtest"
)

// inRing trains a job on ranks of a ring with the given order.
func inRing(t *testing.T, o order.Order, ranks []int, cfg *job.Config, change func(m *member)) []*member {
	t.Helper()
	p := len(ranks)
	return mustEnd(t, trainBy(t, p, func(rank func(g *ring.Group) error) {
		var all sync.WaitGroup
		for position, over := range memlink.Mesh(p) {
			m := ringtest.OnHosts([]int{0, 1, 0, 1}[:p], ranks[position])
			m.Order = o
			g, err := ring.New(context.Background(), m, over, ring.DefaultConfig())
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				defer g.Close()
				if err := rank(g); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}, cfg, linearData(), change))
}

// TestOrderReported verifies that rank 0 reports an order of the ring that differs from that of ranks,
// unless the user set it.
func TestOrderReported(t *testing.T) {
	cfg := loadText(t, linearText)
	for _, tt := range []struct {
		order order.Order
		ranks []int
		want  string
	}{
		{order.Order{}, []int{0, 1, 2, 3}, ""},
		{order.Order{Workers: []int{0, 2, 1, 3}, Why: "by hosts"}, []int{0, 2, 1, 3}, "0,2,1,3"},
		{order.Order{Workers: []int{3, 2, 1, 0}}, []int{3, 2, 1, 0}, ""},
		{order.Order{Measured: true, Why: "all alike"}, []int{0, 1, 2, 3}, "0,1,2,3"},
	} {
		members := inRing(t, tt.order, tt.ranks, cfg, nil)
		for rank, m := range members {
			told := ""
			for _, d := range eventsOf[report.Decision](m) {
				if d.What == "order" {
					told += d.Choice
				}
			}
			if want := map[bool]string{true: tt.want}[rank == 0]; told != want {
				t.Errorf("order %+v: rank %d tells %q, want %q", tt.order, rank, told, want)
			}
		}
	}
}

// TestOrderKept verifies that a measured order survives its process, that a resumed run does not
// measure it again, and that only rank 0 reads a checkpoint for it.
func TestOrderKept(t *testing.T) {
	cfg := loadText(t, linearText, "checkpoint.dir="+t.TempDir())
	measured := order.Order{Workers: []int{0, 3, 1, 2}, Measured: true, Why: "measured"}
	for _, m := range inRing(t, measured, measured.Workers, cfg, nil) {
		if got := m.trainer.KeptOrder(m.rank); !slices.Equal(got, measured.Workers) {
			t.Errorf("rank %d goes on with order %v, want %v", m.rank, got, measured.Workers)
		}
	}
	s, err := checkpoint.Load(cfg.Checkpoint.Dir)
	if err != nil || s.Run.Decisions["order"] != "0,3,1,2" {
		t.Errorf("checkpoint has the decisions %v, error %v", s.Run.Decisions, err)
	}
	for _, tt := range []struct {
		resume string
		rank   int
		want   []int
	}{{"auto", 0, measured.Workers}, {"must", 0, measured.Workers}, {"never", 0, nil}, {"auto", 1, nil}} {
		fresh, err := newTrainer(cfg, Options{Resume: tt.resume}, linearData())
		if err != nil {
			t.Fatal(err)
		}
		if got := fresh.KeptOrder(tt.rank); !slices.Equal(got, tt.want) {
			t.Errorf("resume=%s: rank %d knows order %v, want %v", tt.resume, tt.rank, got, tt.want)
		}
	}
	// An order by hosts is not measured, so it is not stored.
	cfg.Checkpoint.Dir = t.TempDir()
	byHost := order.Order{Workers: []int{0, 2, 1, 3}, Why: "by hosts"}
	inRing(t, byHost, byHost.Workers, cfg, nil)
	if s, err := checkpoint.Load(cfg.Checkpoint.Dir); err != nil || s.Run.Decisions["order"] != "" {
		t.Errorf("checkpoint has the decisions %v, error %v", s.Run.Decisions, err)
	}
}

// TestStoredOrder verifies that a damaged order is an error that names the checkpoint.
func TestStoredOrder(t *testing.T) {
	for _, bad := range []string{"", "0,0", "1,2", "fast"} {
		_, err := storedOrder("ckpt", map[string]string{"order": bad})
		if exitcode.Of(err) != exitcode.BadData || !containsAll(err.Error(), "ckpt", "order") {
			t.Errorf("%q: error %v, want one about ckpt with code %d", bad, err, exitcode.BadData)
		}
	}
	if got, err := storedOrder("ckpt", map[string]string{"codec": "int8"}); got != nil || err != nil {
		t.Errorf("order %v, error %v, want none", got, err)
	}
}

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
