package tcplink

import "net"

// idleHook calls the function of ring.PromptLink.OnIdle when a receiver finds no bytes.
// Only the receiving goroutine uses it.
type idleHook struct {
	work   func(last bool) // nil: no function
	hooked bool            // the connection calls work whenever a read finds no bytes
}

// idleNotifier is a connection that calls work when a read finds no bytes. last reports
// that the read sleeps next.
type idleNotifier interface{ onIdle(work func(last bool)) }

// onIdle sets the function that recv calls. On a shared connection the sender's goroutine
// reads as well and must not call work, so recv calls it before each read.
func (r *receiver) onIdle(work func(last bool)) {
	r.idle.work = work
	if r.shared == nil {
		r.idle.attach(r.in)
	}
}

// attach sets the connection from which the link receives from now on.
func (i *idleHook) attach(c net.Conn) {
	if i.work == nil {
		return
	}
	to, ok := c.(idleNotifier)
	if i.hooked = ok; ok {
		to.onIdle(i.work)
	}
}

// beforeRead runs before a read. It calls work if the connection does not report when a read sleeps.
func (i *idleHook) beforeRead() {
	if !i.hooked {
		i.run(true)
	}
}

func (i *idleHook) run(last bool) {
	if i.work != nil {
		i.work(last)
	}
}
