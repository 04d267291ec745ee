package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/export/metrics"
	"ringtrain/export/page"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
)

// A watch shows a run to browsers and to Prometheus, and a hang in the live block. A nil watch shows it to nobody.
type watch struct {
	out     *show.Reporter
	page    *page.Server // nil: none
	numbers *metrics.Metrics
	plain   *http.Server // of --metrics; nil: none
	stop    context.CancelFunc
	ctx     context.Context // until close
}

// openWatch opens what --dash and --metrics ask for and adds it to the views of out. It returns nil if nothing is asked
// for and no live block shows the run.
func openWatch(a *app, c *cli.Context, out *show.Reporter) (*watch, error) {
	dash, plain := c.IsSet("dash"), c.IsSet("metrics")
	if c.Bool("dash-public") && !dash {
		return nil, exitcode.With(exitcode.Usage, errors.New("--dash-public is given without --dash"))
	}
	if !dash && !plain && !out.IsLive() {
		return nil, nil
	}
	w := &watch{out: out, numbers: metrics.New(version)}
	w.ctx, w.stop = context.WithCancel(a.ctx)
	if dash {
		l, err := page.Listen("--dash", c.String("dash"), c.Bool("dash-public"))
		if err != nil {
			return nil, err
		}
		w.page = page.NewServer(l, w.numbers.Handler())
		w.load(a)
		go w.page.Serve() // until close
		tellLink(a, w.page.Link(), l.Addr().(*net.TCPAddr))
		out.Views = append(out.Views, w.page.Event)
	}
	if plain {
		l, err := page.Listen("--metrics", c.String("metrics"), true)
		if err != nil {
			w.close()
			return nil, err
		}
		only := http.NewServeMux()
		only.Handle("GET /metrics", w.numbers.Handler())
		w.plain = page.NewHTTP(only)
		go w.plain.Serve(l) // until close
		fmt.Fprintf(a.stderr, "metrics http://%s/metrics\n", page.Address(l))
	}
	out.Views = append(out.Views, w.numbers.Event)
	return w, nil
}

// watchJob is openWatch for the launcher of a job.
func watchJob(a *app, c *cli.Context, out *show.Reporter) (*watch, error) {
	name := c.Args().First()
	if !job.IsName(name) {
		if c.IsSet("dash") || c.IsSet("metrics") {
			return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--dash and --metrics are of jobs, and %s is none", name))
		}
		return nil, nil
	}
	return openWatch(a, c, out)
}

// watchRank0 is openWatch for rank 0 of a job without our launcher.
func watchRank0(a *app, c *cli.Context, at place.Place, meet join.Config) (err error) {
	if a.watch, err = openWatch(a, c, a.out); err != nil {
		return err
	}
	a.watch.follow(askStatus(rendezvous.StatusOptions{Addr: at.Rendezvous, Token: meet.Token, JobID: at.JobID, Timeout: time.Second}))
	return nil
}

// tellLink tells people where the page is, and in a login over ssh how to reach it from there.
func tellLink(a *app, link string, at *net.TCPAddr) {
	fmt.Fprintln(a.stderr, "dashboard "+link)
	if a.getenv("SSH_CONNECTION") != "" && at.IP.IsLoopback() {
		fmt.Fprintf(a.stderr, "to open it at home, type there: ssh -L %d:%v %s\n", at.Port, at, show.Hostname())
	}
}

// link returns the address of the page with its token, "" for none.
func (w *watch) link() string {
	if w == nil || w.page == nil {
		return ""
	}
	return w.page.Link()
}

// load puts what the history of the run has in front, if it is on this host.
func (w *watch) load(a *app) {
	if !filepath.IsAbs(a.history) {
		return
	}
	if err := w.page.Load(a.history); err != nil && exitcode.Of(err) != exitcode.NoInput {
		fmt.Fprintf(a.stderr, "the dashboard lacks what was before: %v\n", err)
	}
}

// lacksPast reports whether rank 0 must tell what was before, because its history is not on this host.
func (w *watch) lacksPast(history string) bool {
	return w != nil && w.page != nil && !filepath.IsAbs(history)
}

// follow shows the state of the rendezvous each second, until close. ask may block until its context is done.
func (w *watch) follow(ask func(context.Context) (s rendezvous.Status, known bool)) {
	if w == nil {
		return
	}
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for w.ctx.Err() == nil {
			w.tell(ask(w.ctx))
			select {
			case <-tick.C:
			case <-w.ctx.Done():
			}
		}
	}()
}

// tell shows a state of the rendezvous, or that this process lives.
func (w *watch) tell(s rendezvous.Status, known bool) {
	line := []byte("{}")
	if known {
		line = show.StatusLine(s)
		w.out.Hang(s)
	}
	if w.page != nil {
		w.page.Status(line)
	}
	if known && s.WorldSize > 1 && s.Phase != "idle" && !s.Ended() { // a rank alone does not meet others
		w.numbers.Present(s.Present)
	}
}

// close ends the servers when readers have the last event.
func (w *watch) close() {
	if w == nil {
		return
	}
	w.stop()
	if w.page != nil {
		w.page.Close()
	}
	if w.plain != nil {
		w.plain.Close()
	}
}

// askStatus returns a function that asks a rendezvous for the state of its job.
func askStatus(o rendezvous.StatusOptions) func(context.Context) (s rendezvous.Status, known bool) {
	var at *rendezvous.StatusClient
	return func(ctx context.Context) (s rendezvous.Status, known bool) {
		var err error
		if at == nil {
			if at, err = rendezvous.DialStatus(ctx, o); err != nil {
				return s, false
			}
		}
		all, err := at.Next(ctx)
		if err == nil && len(all) > 0 {
			return all[0], true
		}
		at.Close()
		at = nil
		return s, false
	}
}
