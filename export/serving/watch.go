package serving

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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
	refused map[string]map[string]refusal // by name of the model, then by path of the version folder
	told    map[string]string             // the last error, by its subject: a path, or allModels
}

// allModels is the subject of an error that is not about one path.
const allModels = ""

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
	return &Watcher{models: m, bases: bases, open: l.load, notice: notice, refused: map[string]map[string]refusal{}, told: map[string]string{}}
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

// Look loads and drops versions until nothing is left to do. If the models cannot be read they stay as
// they are.
func (w *Watcher) Look(ctx context.Context) {
	bases, err := w.bases()
	if err == nil {
		w.models.describe(bases)
		w.current = bases
	}
	w.tell(allModels, err)
	for _, b := range w.current {
		there, err := list(b.Path)
		w.tell(b.Path, err)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			w.forgive(b, there)
			w.settle(ctx, b, there)
		}
	}
}

// settle loads and drops versions of a model as long as there is something to do.
func (w *Watcher) settle(ctx context.Context, b Base, there []folder) {
	for ctx.Err() == nil {
		loadable := slices.DeleteFunc(slices.Clone(there), func(f folder) bool {
			_, refused := w.refused[b.Name][f.path]
			return refused
		})
		switch a := b.next(loadable, w.models.loaded(b.Name)); {
		case a.drop != nil:
			w.models.drop(a.drop)
		case a.load != nil:
			w.load(ctx, b, *a.load)
		default:
			return
		}
	}
}

// load loads a version and lets it answer, or refuses it.
func (w *Watcher) load(ctx context.Context, b Base, f folder) {
	files := f.fingerprint()
	w.models.mark(b.Name, f.number, Loading, nil)
	v, err := w.open(ctx, b.Name, f)
	if err != nil {
		w.refused[b.Name][f.path] = refusal{files, files}
		w.models.mark(b.Name, f.number, End, statusOf(err))
		w.tell(f.path, fmt.Errorf("model %s: version %d is not served, and is tried again when its files change: %w", b.Name, f.number, err))
		return
	}
	unload := v.unload
	v.unload = func() {
		unload()
		w.models.ended(v)
	}
	delete(w.told, f.path)
	w.notice.Loaded(v, w.models.publish(v))
}

// forgive keeps the refusals of a model whose folders are there and have the files that could not be
// loaded, or files that still change.
func (w *Watcher) forgive(b Base, there []folder) {
	kept := map[string]refusal{}
	for _, f := range there {
		r, refused := w.refused[b.Name][f.path]
		if !refused {
			continue
		}
		if now := f.fingerprint(); now == r.failed || now != r.last {
			kept[f.path] = refusal{r.failed, now}
		}
	}
	for path := range w.refused[b.Name] {
		if !slices.ContainsFunc(there, func(f folder) bool { return f.path == path }) {
			delete(w.told, path)
		}
	}
	w.refused[b.Name] = kept
}

// tell reports an error of a subject unless it is the one that was told last.
func (w *Watcher) tell(subject string, err error) {
	if err == nil {
		delete(w.told, subject)
		return
	}
	if text := err.Error(); w.told[subject] != text {
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
