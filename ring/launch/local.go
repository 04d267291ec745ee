package launch

import (
	"os"
	"slices"
	"syscall"
	"time"

	"ringtrain/ring/launch/process"
)

// host starts ranks on one machine. Its methods are for one goroutine. Two events follow
// each start: the process of the rank has ended, and no process of the rank is left.
type host interface {
	// start starts a rank. A failed start may also come as an event.
	start(rank int, o startOrder) error

	// signal sends s to all processes of a rank.
	signal(rank int, s syscall.Signal)
}

// event is what has happened to a rank, or to hosts.
type event struct {
	process.Ending
	cleared bool
	leaving bool      // the host is about to be lost: a restart there waits for the loss
	fault   error     // the rank could not be started, and no process of it is left
	loss    *hostLoss // if not nil, the other fields are zero
}

// localHost starts ranks on this host. Its goroutine must be locked to a thread that lives
// as long as the ranks.
type localHost struct {
	env    []string
	dir    string // "": that of this process
	bind   process.Binding
	cores  []int
	grace  time.Duration
	input  *os.File // of rank 0; nil: none
	guard  *process.GuardProcess
	output func(rank int, toErr bool, chunk []byte) // an empty chunk is the end of the output
	post   func(event)
	ranks  map[int]*process.Child
}

func (h *localHost) start(rank int, o startOrder) error {
	share := h.share(o)
	env := h.env
	if share != nil {
		env = slices.Concat(env, process.ThreadVariables(share, len(h.cores), o.Of))
	}
	if h.dir != "" {
		if err := process.CheckDir(h.dir); err != nil { // otherwise the error would name the program
			return err
		}
	}
	p := process.Program{Argv: o.Program, Env: slices.Concat(env, o.Env), Dir: h.dir, Cores: share}
	if rank == 0 {
		p.Input = h.input
	}
	var err error
	if p.Path, err = o.find(h.dir); err != nil {
		return err
	}
	ch, err := process.Start(p, rank, h.output)
	if err != nil {
		return err
	}
	if err := h.guard.Watch(ch.Group()); err != nil { // without the guard the rank would outlive this process
		ch.Signal(syscall.SIGKILL)
		ch.Wait()
		ch.Clear(h.grace)
		return err
	}
	h.ranks[rank] = ch
	go h.await(rank, ch)
	return nil
}

// share returns the cores of a rank; nil means all.
func (h *localHost) share(o startOrder) []int {
	if h.bind != process.BindCore || len(h.cores) == 0 {
		return nil
	}
	return process.Share(h.cores, o.Local, o.Of)
}

// find returns the path of the program.
func (o startOrder) find(dir string) (string, error) {
	if o.Self {
		return os.Executable()
	}
	return process.LookUp(o.Program[0], dir)
}

// await posts the end of the rank of ch.
func (h *localHost) await(rank int, ch *process.Child) {
	h.post(event{Ending: ch.Wait()})
	if ch.Clear(h.grace) {
		h.guard.Forget(ch.Group())
	}
	h.post(event{Ending: process.Ending{Rank: rank}, cleared: true})
}

func (h *localHost) signal(rank int, s syscall.Signal) {
	if ch := h.ranks[rank]; ch != nil {
		ch.Signal(s)
	}
}
