package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/export/serving"
	"ringtrain/ring/exitcode"
)

func serveCommand() command {
	return command{
		name: "serve", takes: words{0, 1, "a folder of models"}, args: "DIR [--listen ADDR] [--grpc ADDR]",
		usage: "answers requests from exported models, by TensorFlow Serving's REST and gRPC",
		examples: []string{"ringtrain serve export/job", "ringtrain serve export --listen :8501 --grpc :8500 --tls-cert cert.pem --tls-key key.pem",
			"ringtrain serve --config models.config --grpc off"},
		flags: serveFlags(), run: runServe,
	}
}

func runServe(a *app, c *cli.Context) error {
	find, err := servedModels(c)
	if err != nil {
		return err
	}
	s, err := newServer(a, c)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.listen(c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(a.ctx, syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop) // a second signal ends the process
	return s.serve(ctx, c, find)
}

// servedModels returns what finds the models: in the folder that is given, or by --config.
func servedModels(c *cli.Context) (func() ([]serving.Base, error), error) {
	dir, config := c.Args().First(), c.String("config")
	if (dir == "") == (config == "") {
		return nil, exitcode.With(exitcode.Usage, errors.New("want a folder of models, or --config FILE"))
	}
	if config != "" {
		if err := refuse(c, "is for a folder of models, and --config is given", "name", "versions", "label"); err != nil {
			return nil, err
		}
		read := serving.ConfigFile(config)
		_, err := read()
		return read, err
	}
	policy, policyErr := serving.ParsePolicy(c.String("versions"))
	labels, labelErr := serving.ParseLabels(c.StringSlice("label"))
	if err := errors.Join(prefixed("--versions: ", policyErr), prefixed("--label: ", labelErr)); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	d, err := serving.NewDirectory(dir, serving.Base{Name: c.String("name"), Policy: policy, Labels: labels})
	if err != nil {
		return nil, err
	}
	return d.Bases, nil
}

func prefixed(prefix string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", prefix, err)
}

// server is the server of one command line.
type server struct {
	*app
	models  *serving.Models
	loader  *serving.Loader
	answers *serving.Server
	tls     *tls.Config  // nil: in clear
	rest    net.Listener // nil: off
	grpc    net.Listener
}

// newServer returns the server of the options, which does not listen yet.
func newServer(a *app, c *cli.Context) (*server, error) {
	body, err := byteCount("--max-body", c.String("max-body"))
	if err == nil && body < 1 {
		err = exitcode.With(exitcode.Usage, fmt.Errorf("--max-body is %s, want 1 byte or more", c.String("max-body")))
	}
	if err != nil {
		return nil, err
	}
	s := &server{app: a, models: serving.NewModels()}
	tell := func(err error) { s.say(err.Error()) }
	files := serving.Certificates{Cert: c.String("tls-cert"), Key: c.String("tls-key"), ClientCA: c.String("tls-client-ca")}
	if files != (serving.Certificates{}) {
		if s.tls, err = serving.TLS(files, tell); err != nil {
			return nil, err
		}
	}
	var token *serving.Token
	if name := c.String("token-file"); name != "" {
		if token, err = serving.NewToken(name, tell); err != nil {
			return nil, err
		}
	}
	cores := serving.NewCores(serving.Limits{Cores: runtime.GOMAXPROCS(0), Batch: c.Int("max-batch"), Queue: c.Int("queue"), Tensor: body})
	metrics := serving.NewMetrics(cores)
	o := serving.Options{MaxBody: body, Timeout: c.Duration("request-timeout"), Token: token, CORS: c.Bool("cors"), Metrics: metrics}
	s.loader = &serving.Loader{Cores: cores, Metrics: metrics}
	s.answers = &serving.Server{
		Models: s.models, Body: o.Timeout, Drain: c.Duration("drain"), Fault: s.say,
		REST: serving.NewREST(s.models, o), GRPC: serving.NewGRPC(s.models, o),
	}
	return s, nil
}

// offWord is the address of a protocol that is not served.
const offWord = "off"

// listen listens on the ports, before a model takes time to load.
func (s *server) listen(c *cli.Context) error {
	for _, port := range []struct {
		name string
		at   *net.Listener
	}{{"listen", &s.rest}, {"grpc", &s.grpc}} {
		address := c.String(port.name)
		if address == offWord {
			continue
		}
		opened, err := serving.Listen(address)
		if err != nil {
			return err
		}
		*port.at = opened
		if s.tls != nil {
			*port.at = tls.NewListener(opened, s.tls)
		} else if !opened.Addr().(*net.TCPAddr).IP.IsLoopback() {
			fmt.Fprintf(s.stderr, "--%s is %s, which other hosts reach, and there is no TLS: what is asked and answered can be read on the way; --tls-cert and --tls-key add it, --token-file keeps others out\n", port.name, address)
		}
	}
	if s.rest == nil && s.grpc == nil {
		return exitcode.With(exitcode.Usage, errors.New("--listen and --grpc are off, want one of them"))
	}
	return nil
}

// close closes the ports and unloads the models.
func (s *server) close() {
	for _, l := range []net.Listener{s.rest, s.grpc} {
		if l != nil {
			l.Close()
		}
	}
	s.models.Close()
}

// serve answers requests until ctx is done.
func (s *server) serve(ctx context.Context, c *cli.Context, find func() ([]serving.Base, error)) error {
	for _, p := range []struct {
		name string
		at   net.Listener
	}{{"REST", s.rest}, {"gRPC", s.grpc}} {
		if p.at != nil {
			fmt.Fprintf(s.stdout, "%s on %s\n", p.name, p.at.Addr())
		}
	}
	watching, end := context.WithCancel(ctx)
	w := serving.NewWatcher(s.models, find, s.loader, serving.Notice{
		Line:   s.say,
		Loaded: func(v *serving.Version, first bool) { show.Bound(func() { s.loaded(v, first) }) },
	})
	var watch sync.WaitGroup
	watch.Go(func() { w.Run(watching, c.Duration("poll")) })
	err := s.answers.Serve(ctx, s.rest, s.grpc)
	end()
	watch.Wait()
	return err
}

// say tells people a line. A reader who does not read does not stop the server.
func (s *server) say(line string) { show.Bound(func() { fmt.Fprintln(s.stderr, line) }) }

// loaded tells that a version answers, and of the first of a model how to ask.
func (s *server) loaded(v *serving.Version, first bool) {
	newest, err := s.models.Acquire(v.Name, serving.Choice{})
	if err == nil {
		newest.Release()
	}
	switch {
	case !first && newest == v:
		fmt.Fprintf(s.stdout, "%s: version %d takes the requests\n", v.Name, v.Number)
		return
	case !first:
		fmt.Fprintf(s.stdout, "%s: version %d answers, too\n", v.Name, v.Number)
		return
	}
	s.stdout.Write(s.models.Describe(s.url(), v.Name))
}

// url returns where clients on this host ask, "" without REST.
func (s *server) url() string {
	if s.rest == nil {
		return ""
	}
	scheme := "http://"
	if s.tls != nil {
		scheme = "https://"
	}
	at := *s.rest.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		at.IP = net.IPv4(127, 0, 0, 1)
	}
	return scheme + at.String()
}
