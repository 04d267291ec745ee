package launch

import (
	"os"
	"slices"
	"syscall"
	"time"
)

// host starts ranks on one machine. Its methods are for one goroutine. What
// happens to a rank comes as events: it has ended; later, nothing of it is left.
type host interface {
	// start starts a rank. That it could not be started may come as an event.
	start(rank int, o startOrder) error

	// signal sends s to all processes of a rank, if any are left.
	signal(rank int, s syscall.Signal)
}

// event is what happened to a rank, or to hosts.
type event struct {
	ending
	cleared bool
	leaving bool  // and so is the host: what is to be started again there is so when it is lost
	fault   error // the rank could not be started, and nothing of it is left
	loss    *loss // if not nil, all there is
}

// localHost starts ranks on this host. Its goroutine must be locked to a
// thread that lives as long as the ranks.
type localHost struct {
	env   []string
	dir   string // "" for this process's own
	bind  Binding
	cores []int
	grace time.Duration
	input *os.File // for rank 0; nil for none
	guard *guard
	hear  func(rank int, toErr bool, chunk []byte) // an empty chunk: closed
	tell  func(event)
	ranks map[int]*child
}

func (h *localHost) start(rank int, o startOrder) error {
	share := h.share(o)
	env := h.env
	if share != nil {
		env = slices.Concat(env, bindVariables(share, len(h.cores), o.Of))
	}
	if h.dir != "" {
		if err := checkDir(h.dir); err != nil { // or else the program would be blamed
			return err
		}
	}
	p := program{argv: o.Program, env: slices.Concat(env, o.Env), dir: h.dir}
	if rank == 0 {
		p.input = h.input
	}
	var err error
	if p.path, err = o.find(h.dir); err != nil {
		return err
	}
	var ch *child
	err = onCores(share, func() error {
		ch, err = startChild(p, rank, h.hear)
		return err
	})
	if err != nil {
		return err
	}
	if err := h.guard.watch(ch.group.id); err != nil { // nobody would end the rank if this process died
		ch.group.signal(syscall.SIGKILL)
		ch.wait()
		ch.clear(h.grace)
		return err
	}
	h.ranks[rank] = ch
	go h.await(ch)
	return nil
}

// share is the cores of a rank; nil for all.
func (h *localHost) share(o startOrder) []int {
	if h.bind != BindCore || len(h.cores) == 0 {
		return nil
	}
	return shareOf(h.cores, o.Local, o.Of)
}

// find is the path of what is to be run.
func (o startOrder) find(dir string) (string, error) {
	if o.Self {
		return os.Executable()
	}
	return lookUp(o.Program[0], dir)
}

// await tells the end of ch.
func (h *localHost) await(ch *child) {
	h.tell(event{ending: ch.wait()})
	if ch.clear(h.grace) {
		h.guard.forget(ch.group.id)
	}
	h.tell(event{ending: ending{rank: ch.rank}, cleared: true})
}

func (h *localHost) signal(rank int, s syscall.Signal) {
	if ch := h.ranks[rank]; ch != nil {
		ch.group.signal(s)
	}
}
