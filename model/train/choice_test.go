package train

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringtrain/export/checkpoint"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
	"ringtrain/ring"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// wireText is a job with gradients that are worth a codec: kernels of 784·32 and 32·10, the first in a
// bucket of 98 KiB.
const wireText = `
name: wire
model:     {kind: mlp, classes: 10, hidden: [32]}
input:     {synthetic: true, batch: 30}
optimizer: {name: sgd, learning_rate: 0.1}
allreduce: {levels: flat, bucket: 64KiB}
train:     {steps: 16}
log:       {every: 0}
`

// A wire is a link with a limited bandwidth on a fake clock.
type wire struct {
	ring.Link
	bytesPerSecond float64
}

func (w wire) Send(ctx context.Context, f ring.Frame) error {
	time.Sleep(time.Duration(float64(len(f.Payload)) / w.bytesPerSecond * float64(time.Second)))
	return w.Link.Send(ctx, f)
}

// onWire trains on p hosts of one rank, joined by wires, in a bubble with a fake clock. Computation takes
// no time.
func onWire(t *testing.T, p int, bytesPerSecond float64, cfg *job.Config, change func(m *member)) (members []*member) {
	data := digitsData()
	synctest.Test(t, func(t *testing.T) {
		hosts, over := make([]int, p), make([]ring.Transport, p)
		for i, l := range memlink.Ring(p) {
			hosts[i], over[i].Ring = i, wire{l, bytesPerSecond}
		}
		members = trainBy(t, p, func(rank func(g *ring.Group) error) {
			ringtest.RunOnHostsOver(t, hosts, over, ring.DefaultConfig(), rank)
		}, cfg, data, change)
	})
	return members
}

// onHosts trains on two levels, with one rank for each host number.
func onHosts(t *testing.T, hosts []int, cfg *job.Config) []*member {
	return trainBy(t, len(hosts), func(rank func(g *ring.Group) error) {
		ringtest.RunOnHosts(t, hosts, ring.DefaultConfig(), rank)
	}, cfg, digitsData(), nil)
}

// TestCodecUnused verifies that a codec without a wire is not used, and that the user is told.
func TestCodecUnused(t *testing.T) {
	var digests []string
	for _, codec := range []string{"int8", "none"} {
		m := mustEnd(t, onHosts(t, []int{0, 0}, loadText(t, wireText, "allreduce.codec="+codec)))[0]
		digests = append(digests, m.result.Digest)
		if got := eventsOf[report.Start](m)[0]; got.Codec != "none" || got.Levels != "host" {
			t.Errorf("codec=%s: start is %+v", codec, got)
		}
		if codec == "int8" && (len(m.notices) != 1 || !strings.HasPrefix(m.notices[0], "allreduce.codec int8 is not used: on one host ")) {
			t.Errorf("notices are %q", m.notices)
		}
	}
	if digests[0] != digests[1] {
		t.Error("int8 gives other bits than none")
	}
}

// byAlgorithm trains flat on three hosts with the job's algorithm.
func byAlgorithm(t *testing.T, cfg *job.Config) *member {
	config := ring.DefaultConfig()
	var err error
	if config.Algorithm, err = ring.ParseAlgorithm(string(cfg.AllReduce.Algorithm)); err != nil {
		t.Fatal(err)
	}
	return mustEnd(t, trainBy(t, 3, func(rank func(g *ring.Group) error) {
		ringtest.RunOnHostsOver(t, []int{0, 1, 2}, memlink.Mesh(3), config, rank)
	}, cfg, digitsData(), nil))[0]
}

// TestCodecPassedBy verifies that the reported codec is none exactly if the algorithm
// leaves no bucket to the codec. The buckets that a codec may encode have 98 and 1.3 KiB; the
// second one is exact.
func TestCodecPassedBy(t *testing.T) {
	for algorithm, used := range map[string]bool{
		"auto": true, "ring": true, "doubling": false,
		"halving": true, // makes way for a codec
	} {
		t.Run("algorithm="+algorithm, func(t *testing.T) {
			m := byAlgorithm(t, loadText(t, wireText, "allreduce.codec=int8", "allreduce.algorithm="+algorithm))
			want, notice := "int8", 0
			if !used {
				want, notice = "none", 1
				none := byAlgorithm(t, loadText(t, wireText, "allreduce.codec=none", "allreduce.algorithm="+algorithm))
				if none.result != m.result {
					t.Errorf("unused it ends with %+v, none with %+v", m.result, none.result)
				}
			}
			if got := eventsOf[report.Start](m)[0].Codec; got != want || len(m.notices) != notice {
				t.Errorf("start says codec %s, notices are %q; want %s", got, m.notices, want)
			}
			if !used && !containsAll(m.notices[0], "allreduce.codec int8 is not used: allreduce.algorithm "+algorithm) {
				t.Errorf("notices are %q", m.notices)
			}
		})
	}
}

// TestAutoPassedBy verifies that auto measures nothing and chooses no codec for buckets that would
// not use it.
func TestAutoPassedBy(t *testing.T) {
	m := byAlgorithm(t, loadText(t, wireText, "allreduce.algorithm=doubling"))
	d := eventsOf[report.Decision](m)
	if len(d) != 1 || d[0].Choice != "none" || !strings.HasPrefix(d[0].Why, "allreduce.algorithm doubling ") {
		t.Errorf("decisions are %+v, want none because of the algorithm", d)
	}
	if d := eventsOf[report.Decision](byAlgorithm(t, loadText(t, wireText, "allreduce.algorithm=auto"))); len(d) != 1 || !strings.HasSuffix(d[0].Why, "from step 4 on") {
		t.Errorf("decisions are %+v, want one that was measured", d)
	}
}

// TestStartAlgorithm verifies that the start event has the algorithm if ranks exchange over links.
func TestStartAlgorithm(t *testing.T) {
	for _, tt := range []struct {
		hosts []int
		want  string
	}{{[]int{0, 0, 1}, "auto"}, {[]int{0, 1, 2}, "auto"}, {[]int{0, 0}, "none"}} {
		m := mustEnd(t, onHosts(t, tt.hosts, loadText(t, digitsText, "train.steps=1")))[0]
		if got := eventsOf[report.Start](m)[0].Algorithm; got != tt.want {
			t.Errorf("hosts=%v: algorithm %s, want %s", tt.hosts, got, tt.want)
		}
	}
}

// TestAutoOnHosts verifies that ranks choose alike if some share a host, although ranks that send
// nothing between hosts measure other times. The chosen codec itself does not matter here.
func TestAutoOnHosts(t *testing.T) {
	m := mustEnd(t, onHosts(t, []int{0, 0, 1}, loadText(t, wireText)))[0] // equal digests on all ranks
	if d := eventsOf[report.Decision](m); len(d) != 1 || !strings.HasSuffix(d[0].Why, "from step 4 on") {
		t.Errorf("decisions are %+v", d)
	}
	if s := eventsOf[report.Start](m)[0]; s.Codec != job.Auto || s.Levels != "two" {
		t.Errorf("start is %+v", s)
	}
}

// TestAuto verifies that the codec of the cost model is used and explained, and that its predicted
// time is achieved.
func TestAuto(t *testing.T) {
	const mbit = 1e6 / 8
	for _, tt := range []struct {
		mbits  float64
		want   string
		reason string
	}{
		{100, "int8", "MB/s: with it training waits "},
		{1e9, "none", "less than 3%; from step 4 on"},
	} {
		t.Run(fmt.Sprintf("mbits=%g", tt.mbits), func(t *testing.T) {
			dir := t.TempDir()
			slow := func(m *member) { // a request takes a millisecond, so steps take time on any wire
				m.opts.Checkpoint = func() bool { time.Sleep(time.Millisecond); return false }
			}
			members := mustEnd(t, onWire(t, 3, tt.mbits*mbit, loadText(t, wireText, "checkpoint.dir="+dir), slow))
			if got := eventsOf[report.Start](members[0])[0].Codec; got != "auto" {
				t.Errorf("start says codec %s, want auto", got)
			}
			decisions := eventsOf[report.Decision](members[0])
			if len(decisions) != 1 {
				t.Fatalf("decisions are %+v, want one", decisions)
			}
			d := decisions[0]
			if d.What != "codec" || d.Choice != tt.want || !containsAll(d.Why, tt.reason, "from step 4 on") {
				t.Errorf("decision is %+v, want %s because %q", d, tt.want, tt.reason)
			}
			// The model knows neither tails nor headers, and not that a rank adds
			// while it sends.
			if p, a := time.Duration(d.Predicted).Seconds(), time.Duration(d.Achieved).Seconds(); traintest.Far(p, a, 0.05) {
				t.Errorf("predicted %gs a step, achieved %gs", p, a)
			}
			s, err := checkpoint.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"codec": tt.want}, s.Run.Decisions); diff != "" {
				t.Errorf("decisions in the checkpoint differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAutoNone verifies that a run that chooses no codec has the bits of a run without a codec,
// from the first step on.
func TestAutoNone(t *testing.T) {
	sets := []string{"allreduce.codec=none"}
	told := mustEnd(t, onWire(t, 2, 1e15, loadText(t, wireText, sets...), nil))[0]
	chose := mustEnd(t, onWire(t, 2, 1e15, loadText(t, wireText), nil))[0]
	if told.result != chose.result || len(eventsOf[report.Decision](told)) > 0 || len(eventsOf[report.Decision](chose)) != 1 {
		t.Errorf("none ends with %+v, auto with %+v and %+v", told.result, chose.result, eventsOf[report.Decision](chose))
	}
}

// TestAutoUnmeasured verifies that a run without a choice measures nothing and says so.
func TestAutoUnmeasured(t *testing.T) {
	for _, tt := range []struct {
		name  string
		hosts []int // by rank
		sets  []string
		why   string
	}{
		{"one rank", []int{0}, nil, "one rank: nothing is sent"},
		{"one host", []int{0, 0}, nil, "one host: gradients stay in memory"},
		{"small", []int{0, 1, 1}, []string{"model.hidden=[4]"}, cost.TooSmall},
	} {
		t.Run("case="+tt.name, func(t *testing.T) {
			dir := t.TempDir()
			cfg := loadText(t, wireText, append(tt.sets, "checkpoint.dir="+dir)...)
			m := mustEnd(t, onHosts(t, tt.hosts, cfg))[0]
			got := eventsOf[report.Decision](m)
			if want := (report.Decision{What: "codec", Choice: "none", Why: tt.why}); len(got) != 1 || got[0] != want {
				t.Errorf("decisions are %+v, want %+v", got, want)
			}
			if got := eventsOf[report.Start](m)[0].Codec; got != "none" {
				t.Errorf("start says codec %s, want none", got)
			}
			if s, err := checkpoint.Load(dir); err != nil || s.Run.Decisions != nil {
				t.Errorf("the checkpoint has the decisions %v, error %v, want none: on other hosts it may be another", s.Run.Decisions, err)
			}
		})
	}
}

// TestAutoResumes verifies that a resumed run keeps the codec and says so, and that a run that was
// stopped before its choice chooses after the resume.
func TestAutoResumes(t *testing.T) {
	const slow = 1e6
	for _, tt := range []struct {
		stop int // step
		why  string
	}{
		{2, "from step 6 on"},
		{3, "from step 7 on"},
		{4, "kept in its checkpoint"},
		{9, "kept in its checkpoint"},
	} {
		t.Run(fmt.Sprintf("stop=%d", tt.stop), func(t *testing.T) {
			cfg := loadText(t, wireText, "checkpoint.dir="+t.TempDir())
			first := mustEnd(t, onWire(t, 2, slow, cfg, func(m *member) { m.stopAfter(tt.stop, 143) }))[0]
			told := eventsOf[report.Decision](first)
			if (len(told) == 1) != (tt.stop > 3) {
				t.Errorf("before the stop it has decided %+v", told)
			}
			// On this wire int8 is never the choice.
			again := mustEnd(t, onWire(t, 2, map[bool]float64{true: 1e15, false: slow}[tt.stop > 3], cfg, nil))[0]
			d := eventsOf[report.Decision](again)
			if len(d) != 1 || d[0].Choice != "int8" || !strings.Contains(d[0].Why, tt.why) {
				t.Fatalf("after the resume it has decided %+v, want int8: %s", d, tt.why)
			}
			if codec := eventsOf[report.Start](again)[0].Codec; (codec == "int8") != (tt.stop > 3) {
				t.Errorf("start says codec %s", codec)
			}
		})
	}
}

// TestAutoRepeats verifies that a run that resumes with the stored codec repeats, and that its
// checkpoints keep the codec.
func TestAutoRepeats(t *testing.T) {
	cfg := loadText(t, wireText, "checkpoint.dir="+t.TempDir(), "checkpoint.keep=9")
	mustEnd(t, onWire(t, 2, 1e6, cfg, func(m *member) { m.stopAfter(9, 143) }))
	var digests []string
	for range 2 {
		again := *cfg
		again.Checkpoint.Dir = t.TempDir()
		if err := os.CopyFS(again.Checkpoint.Dir, os.DirFS(cfg.Checkpoint.Dir)); err != nil {
			t.Fatal(err)
		}
		digests = append(digests, mustEnd(t, onWire(t, 2, 1e9, &again, nil))[0].result.Digest)
		if s, err := checkpoint.Load(again.Checkpoint.Dir); err != nil || s.Step != 16 || s.Run.Decisions["codec"] != "int8" {
			t.Errorf("checkpoint of step %d has the decisions %v, error %v", s.Step, s.Run.Decisions, err)
		}
	}
	if digests[0] != digests[1] {
		t.Errorf("digests are %q, want equal ones", digests)
	}
}

// TestStoredCodec verifies that an unknown codec in a checkpoint, or from rank 0, is an error.
func TestStoredCodec(t *testing.T) {
	if _, err := storedCodec("ckpt", map[string]string{"codec": "morse"}); exitcode.Of(err) != exitcode.BadData || !containsAll(err.Error(), "ckpt", "morse") {
		t.Errorf("error is %v (%d), want code %d", err, exitcode.Of(err), exitcode.BadData)
	}
	if n, err := storedCodec("ckpt", map[string]string{"order": "0 1"}); n != 0 || err != nil {
		t.Errorf("codec %d, error %v, want none", n, err)
	}
	for _, bad := range []int64{-1, 16, 17, 300, math.MaxInt64, math.MinInt64} {
		if c, err := (progress{codec: bad}).chosen(); exitcode.Of(err) != exitcode.Protocol {
			t.Errorf("codec %d is taken for %v, error %v", bad, c, err)
		}
	}
}

// TestLeastOfRanks verifies that all ranks continue with the same numbers, and that NaN and
// negative numbers are errors.
func TestLeastOfRanks(t *testing.T) {
	numbers := func(rank int) *measurement {
		return &measurement{rates: []float64{float64(rank), 5}, untilEnd: []float64{3 - float64(rank)}, step: 7,
			codings: []cost.Coding{{Name: "c", Ratio: 2, Encode: 10 + float64(rank), Decode: 20 - float64(rank)}}}
	}
	ringtest.Run(t, 3, ring.DefaultConfig(), func(g *ring.Group) error {
		m := numbers(g.Membership().Rank)
		if err := leastOfRanks(t.Context(), g, m); err != nil {
			return err
		}
		want := &measurement{rates: []float64{0, 5}, untilEnd: []float64{1}, step: 7, codings: []cost.Coding{{Name: "c", Ratio: 2, Encode: 10, Decode: 18}}}
		if d := cmp.Diff(want, m, cmp.AllowUnexported(measurement{})); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", g.Membership().Rank, d)
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
			m := numbers(0)
			if g.Membership().Rank == 1 {
				m.step = bad
			}
			if err := leastOfRanks(t.Context(), g, m); exitcode.Of(err) != exitcode.Protocol || !strings.Contains(err.Error(), "rank 1 has measured") {
				t.Errorf("%g: error is %v, want code %d", bad, err, exitcode.Protocol)
			}
		}
		return nil
	})
}

// TestMedian verifies that one slow step does not decide.
func TestMedian(t *testing.T) {
	step := func(v float64) measurement { return measurement{rates: []float64{v, 10 - v}, step: 2 * v} }
	got := median([]measurement{step(9), step(1), step(2)})
	if d := cmp.Diff(measurement{rates: []float64{2, 8}, step: 4}, got, cmp.AllowUnexported(measurement{})); d != "" {
		t.Errorf("median (-want +got):\n%s", d)
	}
}

// TestLayoutOf verifies that the cost model uses the layout of the group.
func TestLayoutOf(t *testing.T) {
	for _, tt := range []struct {
		hosts, levels string
		want          cost.Layout
	}{
		{"aabb", "two", cost.Layout{Hosts: 2, Local: 2}},
		{"aaab", "two", cost.Layout{Hosts: 2, Local: 1}},
		{"abcd", "two", cost.Layout{Hosts: 4, Local: 1}},
		{"aabb", "flat", cost.Layout{Hosts: 4, Local: 1}},
	} {
		m := ringtest.Membership(len(tt.hosts), 0)
		for i := range m.Workers {
			m.Workers[i].HostID = tt.hosts[i : i+1]
		}
		if got := layoutOf(m, tt.levels); got != tt.want {
			t.Errorf("hosts=%s levels=%s: layout is %+v, want %+v", tt.hosts, tt.levels, got, tt.want)
		}
	}
}

// TestHops verifies that only hops over the wire share its latency.
func TestHops(t *testing.T) {
	for _, tt := range []struct {
		hosts  []int
		levels string
		want   int
	}{
		{[]int{0, 0, 1, 1}, "two", 2},
		{[]int{0, 1, 0, 1}, "two", 4},
		{[]int{0, 0, 1, 1, 2, 2}, "two", 3},
		{[]int{0, 0, 0, 1}, "two", 2},
		{[]int{0, 1, 2, 3}, "flat", 3},
		{[]int{0, 0, 1, 1}, "flat", 3},
		{[]int{0, 0}, "host", 1},
		{[]int{0}, "flat", 1},
		{[]int{0, 0}, "two", 1}, // which cannot be
	} {
		if got := hops(ringtest.OnHosts(tt.hosts, 0), tt.levels); got != tt.want {
			t.Errorf("hosts=%v levels=%s: %d hops, want %d", tt.hosts, tt.levels, got, tt.want)
		}
	}
}

// TestHidden verifies that the hidden share of the exchange is between 0 and 1.
func TestHidden(t *testing.T) {
	for _, tt := range []struct {
		reduce, exposed time.Duration
		want            float64
	}{{0, 0, 0}, {0, 5, 0}, {100, 100, 0}, {100, 25, 0.75}, {100, 0, 1}, {100, 101, 0}} {
		if got := (times{reduce: tt.reduce, exposed: tt.exposed}).hiddenShare(); got != tt.want {
			t.Errorf("%d of %d exposed: %g hidden, want %g", tt.exposed, tt.reduce, got, tt.want)
		}
	}
}

// TestTimeTLS verifies that the speed of encryption is measured.
func TestTimeTLS(t *testing.T) {
	if rate := timeTLS(); !(rate > 1e6) {
		t.Errorf("%g bytes per second, want more than 1e6", rate)
	}
}
