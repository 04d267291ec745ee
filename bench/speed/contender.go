package speed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// MaxLoss is the upper bound of the loss of a turn. An untrained network with ten
// classes has ln 10 = 2.303.
const MaxLoss = 2.2

// A turn is the result of one turn of a contender.
type turn struct {
	rate   float64 // examples a second
	loss   float64
	memory int64 // bytes of RssAnon and RssShmem of a rank of ringtrain; 0: unknown
}

// A lacking is an error about a feature that a case needs and ringtrain lacks.
type lacking struct{ error }

// reason returns the lines of an error without the name of the temporary job file and
// without the part after "want".
func reason(err error) string {
	var all []string
	for line := range strings.Lines(err.Error()) {
		if _, text, found := strings.Cut(line, ".yaml:"); found {
			line = text
		}
		line, _, _ = strings.Cut(line, ", want ")
		all = append(all, strings.TrimSpace(line))
	}
	return strings.Join(all, "; ")
}

// A contender takes turns. open prepares it and returns a description of what it runs.
type contender interface {
	open(ctx context.Context, w work) (what string, err error)
	turn(ctx context.Context, seconds time.Duration) (turn, error)
	close()
}

// work is a case with its records and a folder for files of the contenders.
type work struct {
	Case
	records records
	folder  string
	warm    time.Duration
	kernels string // kernel set of all contenders; "" for their own choices
}

// arrowReads is pyarrow.
var arrowReads = software{driver: "read_records.py", modules: "pyarrow, numpy"}

// newContender returns the contender of that name, nil if there is none.
func newContender(name, program string) contender {
	torch := software{driver: "pytorch_steps.py", modules: "torch, numpy"}
	flow := software{driver: "tensorflow_steps.py", modules: "tensorflow, numpy", cluster: true}
	mpi := software{driver: "numpy_steps.py", modules: "numpy, mpi4py", launcher: "mpirun"}
	torchClicks := software{driver: "pytorch_clicks.py", modules: "torch, numpy"}
	flowClicks := software{driver: "tensorflow_clicks.py", modules: "tensorflow, numpy"}
	vw := software{driver: "vw_pass.py", modules: "vowpalwabbit, numpy"}
	pandasReads := software{driver: "read_records.py", modules: "pandas, numpy"}
	polarsReads := software{driver: "read_records.py", modules: "polars, numpy"}
	flowReads := software{driver: "read_records.py", modules: "tensorflow, numpy"}
	return map[string]contender{
		twoRanks:    &ringtrainJob{program: program, ranks: 2},
		oneRank:     &ringtrainJob{program: program, ranks: 1},
		tableSmall:  &ringtrainJob{program: program, ranks: 2, spread: 1},
		tableMiddle: &ringtrainJob{program: program, ranks: 2, spread: 10},
		tableLarge:  &ringtrainJob{program: program, ranks: 2, spread: 100},
		oneCore:     &sgemm{program: program},
		twoRanksSVM: &pass{program: program, ranks: 2, format: "libsvm"},
		twoRanksVW:  &pass{program: program, ranks: 2, format: "vw"},
		oneRankSVM:  &pass{program: program, ranks: 1, format: "libsvm"},
		parseSVM:    &parsing{format: "libsvm"},
		parseVW:     &parsing{format: "vw"},
		reader:      &parsing{},
		splitReader: &parsing{split: true},
		lookInit:    &looking{},
		lookCheck:   &looking{checks: true},

		graphRuns:  &answering{},
		flowAnswer: &library{of: software{driver: "tensorflow_answers.py", modules: "tensorflow, numpy"}, threads: runtime.GOMAXPROCS(0)},

		torchOne:  &library{of: torch, threads: 1},
		torchTwo:  &library{of: torch, threads: 2},
		torchLast: &library{of: torch, way: "channels_last", threads: 2},
		torchDDP:  &library{of: torch, way: "ddp", ranks: 2, threads: 1},
		tfFit:     &library{of: flow, way: "fit", threads: 2},
		tfStep:    &library{of: flow, way: "step", threads: 2},
		tfLoop:    &library{of: flow, way: "loop", threads: 2},
		tfWorkers: &library{of: flow, way: "workers", ranks: 2, threads: 1},
		numpyMPI:  &library{of: mpi, way: "mpi", ranks: 2, threads: 1},
		openBLAS:  &library{of: software{driver: "sgemm.py", modules: "numpy"}, threads: 1},

		readParquet:  &parsing{parquet: true},
		arrowParquet: &library{of: arrowReads, way: "arrow-parquet", threads: 2},
		arrowCSV:     &library{of: arrowReads, way: "arrow", threads: 1},
		pandasCSV:    &library{of: pandasReads, way: "pandas", threads: 1},
		polarsCSV:    &library{of: polarsReads, way: "polars", threads: 1},
		flowCSV:      &library{of: flowReads, way: "tf-csv", threads: 1},
		flowRecords:  &library{of: flowReads, way: "tf-records", threads: 1},

		vwOne:    &library{of: vw, way: "pass", threads: 2},
		vwTwo:    &library{of: vw, way: "pass", ranks: 2, threads: 1},
		vwCached: &library{of: vw, way: "cache", threads: 2},
		vwNoop:   &library{of: vw, way: "noop", threads: 2},

		torchSparse: &library{of: torchClicks, way: "sparse", threads: 1},
		torchSparS:  &library{of: torchClicks, way: "sparse", threads: 2},
		torchDense:  &library{of: torchClicks, way: "dense", threads: 2},
		torchHand:   &library{of: torchClicks, way: "hand", threads: 1},
		torchHandS:  &library{of: torchClicks, way: "hand", threads: 2},
		torchRows:   &library{of: torchClicks, way: "ddp", ranks: 2, threads: 1},
		tfRowsFit:   &library{of: flowClicks, way: "fit", threads: 2},
		tfRowsLoop:  &library{of: flowClicks, way: "loop", threads: 2},
	}[name]
}

// ringtrainJob is ringtrain. It starts anew for each turn.
type ringtrainJob struct {
	program string
	ranks   int
	spread  int // of a click log; 0: 1

	job   string
	sets  []string
	warm  time.Duration
	table int64 // bytes of the table of a click log, which the memory of a turn excludes
}

func (j *ringtrainJob) open(_ context.Context, w work) (string, error) {
	path, err := j.writeJob(w)
	if err != nil {
		return "", err
	}
	j.job, j.warm, j.sets = path, w.warm, nil
	if w.kernels != "" {
		j.sets = []string{"train.kernels=" + w.kernels}
	}
	return "", nil
}

// writeJob writes the job file of the case.
func (j *ringtrainJob) writeJob(w work) (string, error) {
	if w.click.rows == 0 {
		path := filepath.Join(w.folder, w.Name+".yaml")
		return path, os.WriteFile(path, []byte(w.job(w.records)), 0o600)
	}
	if j.spread > 0 {
		j.table = 4 * int64(w.click.ids*j.spread) * int64(1+w.click.factors)
	}
	path := filepath.Join(w.folder, fmt.Sprintf("%s-%d.yaml", w.Name, j.spread))
	return path, writeClickJob(path, w.clickJob(w.records.log, w.click.texts[0], max(j.spread, 1)))
}

func (j *ringtrainJob) turn(ctx context.Context, seconds time.Duration) (turn, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, j.warm+seconds+startTimeout, fmt.Errorf("took more than %v", j.warm+seconds+startTimeout))
	defer cancel()
	r, err := Run{Program: j.program, Job: j.job, Sets: j.sets, Ranks: j.ranks, Warm: j.warm, Measure: seconds, Memory: j.table > 0}.Time(bounded)
	return turn{rate: r.ExamplesPerS, loss: r.Loss, memory: max(0, r.Memory-j.table)}, err
}

func (j *ringtrainJob) close() {}

// library is the driver of another library. It stays alive between its turns.
type library struct {
	of             software
	way            string
	ranks, threads int // ranks 0: 1

	session *session
}

func (l *library) open(ctx context.Context, w work) (string, error) {
	python, err := l.of.python(ctx)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp(w.folder, "library")
	if err != nil {
		return "", err
	}
	spec, err := w.writeSpec(folder, "case", l.way, l.threads, w.warm.Seconds(), w.records)
	if err != nil {
		return "", err
	}
	processes, err := l.of.processes(python, w.folder, spec, max(l.ranks, 1))
	if err != nil {
		return "", err
	}
	for i := range processes {
		processes[i].Env = append(processes[i].Env, threadsEnv(l.threads)...)
		processes[i].Env = append(processes[i].Env, kernelsEnv(w.kernels)...)
	}
	if l.session, err = newSession(ctx, processes); err != nil {
		return "", err
	}
	return l.session.library, nil
}

func (l *library) turn(_ context.Context, seconds time.Duration) (turn, error) {
	a, err := l.session.turn(seconds)
	if err != nil {
		return turn{}, err
	}
	loss, _ := a.Loss.(float64)
	return turn{rate: a.ExamplesPerS, loss: loss}, nil
}

func (l *library) close() {
	if l.session != nil {
		l.session.close()
		l.session = nil
	}
}
