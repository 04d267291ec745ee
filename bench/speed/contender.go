package speed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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

// newContender returns the contender of that name.
func newContender(name, program string) contender {
	switch name {
	case twoRanks:
		return &ringtrainJob{program: program, ranks: 2}
	case oneRank:
		return &ringtrainJob{program: program, ranks: 1}
	case torchOne:
		return &library{of: pytorch(), threads: 1}
	case torchTwo:
		return &library{of: pytorch(), threads: 2}
	case torchLast:
		return &library{of: pytorch(), way: "channels_last", threads: 2}
	case torchDDP:
		return &library{of: pytorch(), way: "ddp", ranks: 2, threads: 1}
	case tfFit:
		return &library{of: tensorflow(), way: "fit", threads: 2}
	case tfStep:
		return &library{of: tensorflow(), way: "step", threads: 2}
	case tfLoop:
		return &library{of: tensorflow(), way: "loop", threads: 2}
	case tfWorkers:
		return &library{of: tensorflow(), way: "workers", ranks: 2, threads: 1}
	case numpyMPI:
		return &library{of: numpy(), way: "mpi", ranks: 2, threads: 1}
	case oneCore:
		return &sgemm{program: program}
	case openBLAS:
		return &library{of: blas(), threads: 1}
	}
	if c := newClickContender(name, program); c != nil {
		return c
	}
	panic("speed: no such contender")
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
		return w.writeJob(w.folder, w.records)
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
