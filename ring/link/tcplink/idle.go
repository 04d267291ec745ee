package tcplink

import "net"

// idle is what who receives does when there is nothing to read; see ring.PromptLink.
// It is called on that goroutine only.
type idle struct {
	work   func(last bool) // nil: nothing
	hooked bool            // the connection calls it, whenever a read finds nothing
}

// An idler is a connection that calls work when a read finds nothing, with last before it
// sleeps.
type idler interface{ onIdle(work func(last bool)) }

// onIdle has recv call work. Over a pair the sender's goroutine reads as well, and must
// not call it.
func (r *receiver) onIdle(work func(last bool)) {
	r.idle.work = work
	if r.pair == nil {
		r.idle.watch(r.in)
	}
}

// watch says over which connection the link receives from now on.
func (i *idle) watch(c net.Conn) {
	if i.work == nil {
		return
	}
	to, ok := c.(idler)
	if i.hooked = ok; ok {
		to.onIdle(i.work)
	}
}

// before is called before a read. Where the connection does not say when that sleeps, it may.
func (i *idle) before() {
	if !i.hooked {
		i.do(true)
	}
}

func (i *idle) do(last bool) {
	if i.work != nil {
		i.work(last)
	}
}
