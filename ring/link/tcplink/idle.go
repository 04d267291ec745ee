package tcplink

// idleHook calls the function that ring.Link.Notify sets when a receiver finds no bytes.
type idleHook struct {
	work   func(last bool) // nil: no function
	hooked bool            // the connection calls work whenever a read finds no bytes
}

// idleNotifier is a connection that calls work when a read finds no bytes. last reports
// that the read sleeps next.
type idleNotifier interface{ onIdle(work func(last bool)) }

// attach sets the function for reads of c. It must not be called while one runs.
func (i *idleHook) attach(c *conn, work func(last bool)) {
	i.work = work
	if to, ok := c.below.(idleNotifier); ok {
		to.onIdle(work)
		i.hooked = true
	}
}

// beforeRead runs before a read. It calls work if the connection does not report when a read sleeps.
func (i *idleHook) beforeRead() {
	if !i.hooked && i.work != nil {
		i.work(true)
	}
}
