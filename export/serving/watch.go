package serving

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/serving/servingpb"
	"ringtrain/ring/exitcode"
)

// Watcher keeps the versions of Models as the folders say: it loads what is published, and drops what
// is replaced. Only one goroutine may use it.
type Watcher struct {
	models *Models
	bases  func() ([]Base, error)
	open   func(ctx context.Context, name string, f folder) (*Version, error)
	notice Notice

	current []Base
	refused map[string]refusal // by path of the version folder
	told    map[string]string  // the last error, by its subject: a path, or "" of all models
}

// Notice receives what happens to versions, for people.
type Notice struct {
	Line   func(text string)            // what goes wrong, once
	Loaded func(v *Version, first bool) // v answers requests; first: its model had no version before
}

// refusal is a version that could not be loaded. It is tried again when its files have changed and are
// at rest: equal at two looks.
type refusal struct {
	failed uint64 // fingerprint of the files that could not be loaded
	last   uint64 // at the last look
}

// NewWatcher returns a watcher of the models that bases returns at each look. The goroutine of Run
// calls notice.
func NewWatcher(m *Models, bases func() ([]Base, error), l *Loader, notice Notice) *Watcher {
	return &Watcher{models: m, bases: bases, open: l.load, notice: notice, refused: map[string]refusal{}, told: map[string]string{}}
}

// Run looks for changes each poll until ctx is done.
func (w *Watcher) Run(ctx context.Context, poll time.Duration) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		w.Look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Look loads and drops versions until nothing is left to do. Models whose description or folder cannot
// be read stay as they are.
func (w *Watcher) Look(ctx context.Context) {
	bases, err := w.bases()
	if err == nil {
		w.models.describe(bases)
		w.current = bases
	}
	w.tell("", err)
	for _, b := range w.current {
		there, err := list(b.Path)
		w.tell(b.Path, err)
		if err == nil {
			w.forget(there)
			w.settle(ctx, b, slices.DeleteFunc(there, w.isRefused))
		}
	}
}

// settle loads and drops versions of a model as long as there is something to do.
func (w *Watcher) settle(ctx context.Context, b Base, there []folder) {
	for ctx.Err() == nil {
		loaded := w.models.loaded(b.Name)
		a := b.next(there, loaded)
		if a.drop != nil {
			w.models.set(b.Name, State{Number: a.drop.Number, Phase: servingpb.ModelVersionStatus_UNLOADING})
			continue
		}
		if a.load == nil {
			return
		}
		v := w.load(ctx, b.Name, *a.load)
		if v == nil {
			there = slices.DeleteFunc(there, func(f folder) bool { return f == *a.load })
			continue
		}
		w.notice.Loaded(v, len(loaded) == 0)
	}
}

// load loads a version and lets it answer, or refuses it: then it returns nil.
func (w *Watcher) load(ctx context.Context, name string, f folder) *Version {
	files := f.fingerprint()
	w.models.set(name, State{Number: f.number, Phase: servingpb.ModelVersionStatus_LOADING})
	v, err := w.open(ctx, name, f)
	if err != nil {
		w.refused[f.path] = refusal{files, files}
		w.models.set(name, State{Number: f.number, Phase: servingpb.ModelVersionStatus_END, Err: statusOf(err)})
		w.tell(f.path, fmt.Errorf("model %s: version %d is not served, and is tried again when its files change: %w", name, f.number, err))
		return nil
	}
	unload := v.unload
	v.unload = func() {
		unload()
		w.models.set(name, State{Number: f.number, Phase: servingpb.ModelVersionStatus_END})
	}
	w.tell(f.path, nil)
	w.models.set(name, State{Number: f.number, Phase: servingpb.ModelVersionStatus_AVAILABLE, answers: v})
	return v
}

// forget takes the folders out of those that could not be loaded whose files have changed since, and are at rest.
func (w *Watcher) forget(there []folder) {
	for _, f := range there {
		if !w.isRefused(f) {
			continue
		}
		r, now := w.refused[f.path], f.fingerprint()
		w.refused[f.path] = refusal{r.failed, now}
		if now != r.failed && now == r.last {
			delete(w.refused, f.path)
		}
	}
}

// isRefused reports whether a folder could not be loaded, and is as it was, or still changes.
func (w *Watcher) isRefused(f folder) bool {
	_, refused := w.refused[f.path]
	return refused
}

// tell reports an error of a subject unless it is the one that was told last.
func (w *Watcher) tell(subject string, err error) {
	if err == nil {
		delete(w.told, subject)
	} else if text := err.Error(); w.told[subject] != text {
		w.told[subject] = text
		w.notice.Line(text)
	}
}

// statusOf returns an error of loading as the status that clients see.
func statusOf(err error) error {
	if s, ok := status.FromError(err); ok {
		return s.Err()
	}
	code := codes.Internal
	switch exitcode.Of(err) {
	case exitcode.NoInput:
		code = codes.NotFound
	case exitcode.BadData:
		code = codes.DataLoss
	}
	return status.Error(code, err.Error())
}
